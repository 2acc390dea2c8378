//! Bars of blocks behind the rows of a table.

use anstyle::Style;
use terminal_size::{Width, terminal_size_of};

use super::{Cell, Table};

/// Cells of a line where there is no terminal, so that what is piped is always the same.
const PLAIN_WIDTH: usize = 80;

/// Cells of the shortest bar for a whole, and of the longest.
const SHORTEST: usize = 8;
const LONGEST: usize = 60;

/// From an eighth of a cell to a whole one.
const BLOCKS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Puts a bar behind each row of a table but its header: `parts` of the same whole, as long as the terminal is wide.
pub(crate) fn add_bars(table: &mut Table, parts: &[u64], whole: u64, indent: usize, style: Style) {
    // Of standard output, or none: whatever else is a terminal does not show it.
    let line = terminal_size_of(std::io::stdout())
        .map_or(PLAIN_WIDTH, |(Width(width), _)| usize::from(width));
    let room = line.saturating_sub(table.width(indent)).clamp(SHORTEST, LONGEST);
    let bars = parts.iter().map(|&part| Cell::styled(&bar(part, whole, room), style));
    table.append(bars);
}

/// A bar of a part, where the whole has `width` cells. What is not nothing is seen.
fn bar(part: u64, whole: u64, width: usize) -> String {
    let eighths = u128::try_from(width).unwrap_or(0) * BLOCKS.len() as u128;
    let filled = u128::from(part.min(whole)) * eighths / u128::from(whole.max(1));
    let filled = usize::try_from(filled).unwrap_or(0).max(usize::from(part > 0));
    let mut bar: String = std::iter::repeat_n('█', filled / BLOCKS.len()).collect();
    if let Some(last) = (filled % BLOCKS.len()).checked_sub(1) {
        bar.push(BLOCKS[last]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths_of_cells() {
        let bars = [0, 1, 100, 250, 1000, 2000].map(|part| bar(part, 1000, 10));
        assert_eq!(bars, ["", "▏", "█", "██▌", "██████████", "██████████"]);
        assert_eq!(bar(5, 0, 10), "▏");
        assert_eq!(bar(u64::MAX, u64::MAX, 3), "███");
    }
}
