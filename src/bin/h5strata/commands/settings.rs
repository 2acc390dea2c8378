//! Settings of datasets as the command line names them.

use h5strata::RewriteOptions;
use h5strata::codec::{Filter, FilterRequest};
use h5strata::dtype::Literal;
use serde_json::Value;

use crate::args::Settings;

/// What datasets are to get; `None` if nothing was said.
pub(super) fn options(args: &Settings) -> Option<RewriteOptions> {
    let mut options = RewriteOptions::new();
    if let Some(chunks) = &args.chunks {
        options = options.chunks(chunks);
    }
    if let Some(dtype) = &args.dtype {
        options = options.dtype(dtype.clone());
    }
    if let Some(fill) = &args.fill {
        options = fill_value(options, fill);
    }
    let filters = filters(args);
    if let Some(filters) = &filters {
        options = options.filters(filters.clone());
    }
    let is_said = args.chunks.is_some() || args.dtype.is_some() || args.fill.is_some();
    (is_said || filters.is_some()).then_some(options)
}

/// A number or a truth value is what JSON says it is; every other text, and one in quotes, is a text.
fn fill_value(options: RewriteOptions, text: &str) -> RewriteOptions {
    let value = serde_json::from_str(text).unwrap_or(Value::Null);
    let number = value.as_number();
    let literal = match &value {
        Value::Bool(value) => Literal::Bool(*value),
        Value::String(text) => Literal::Text(text),
        _ => match number.map(|number| (number.as_i64(), number.as_u64(), number.as_f64())) {
            Some((Some(value), ..)) => Literal::Integer(value),
            Some((None, Some(value), _)) => Literal::Unsigned(value),
            Some((None, None, Some(value))) => Literal::Float(value),
            _ => Literal::Text(text),
        },
    };
    options.fill_value(literal)
}

/// All filters, if any are said.
fn filters(args: &Settings) -> Option<FilterRequest> {
    let (shuffle, fletcher32) = (args.shuffle, args.fletcher32);
    let is_said = args.no_filters || args.gzip.is_some() || shuffle || fletcher32;
    let compression = args.gzip.map(Filter::gzip);
    let said = is_said.then_some(FilterRequest { shuffle, compression, fletcher32 });
    args.filters.clone().or(said)
}
