//! What the datasets of a version are made with, kept from one to the next: most are of one kind, and making these lists
//! and types takes libhdf5 about as long as making a dataset.

use h5strata_ffi::h5t::Description;
use h5strata_ffi::id::{DatasetCreation, Datatype};
use h5strata_ffi::{Error, Lock, h5p, h5t};

use super::super::layout::{self, AttributeTypes};
use super::super::stage::Settings;
use super::super::storage::Fill;
use crate::dims::Dims;

/// What was made for the last dataset.
pub(super) struct Templates {
    pub(super) attributes: AttributeTypes,
    last: Option<(Dims, Template)>,
}

/// What datasets of one type and fill value are made with.
pub(super) struct Template {
    description: Description,
    fill: Fill,
    pub(super) datatype: Datatype,
    pub(super) creation: DatasetCreation,
}

impl Templates {
    pub(super) fn new(lock: &Lock) -> Result<Self, Error> {
        Ok(Self { attributes: AttributeTypes::new(lock)?, last: None })
    }

    /// What a dataset of chunks is made with.
    pub(super) fn of_chunks(
        &mut self,
        lock: &Lock,
        description: Description,
        settings: &Settings,
        chunks: Dims,
    ) -> Result<&Template, Error> {
        let last = self.last.take().filter(|(shape, template)| {
            *shape == chunks
                && template.description == description
                && template.fill == settings.fill
        });
        let template = match last {
            Some((_, template)) => template,
            None => {
                let template = Template::new(lock, description, settings)?;
                h5p::set_chunk(lock, &template.creation, &chunks)?;
                template
            }
        };
        Ok(&self.last.insert((chunks, template)).1)
    }
}

impl Template {
    /// For one dataset, without a layout yet.
    pub(super) fn new(
        lock: &Lock,
        description: Description,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let datatype = h5t::create(lock, &description)?;
        let creation = layout::dataset_creation(lock)?;
        if let Fill::Element(bytes) = &settings.fill {
            h5p::set_fill_value(lock, &creation, &datatype, bytes)?;
        }
        Ok(Self { description, fill: settings.fill.clone(), datatype, creation })
    }
}
