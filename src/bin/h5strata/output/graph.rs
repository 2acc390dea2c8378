//! The history of versions drawn in text, as `git log --graph` draws it.

/// Lines of a graph whose newest node is drawn first. Each node has at most one parent.
///
/// A lane is a column that waits for the parent of the node above it; where several wait for the same
/// node they join before it.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    lanes: Vec<Option<String>>,
}

impl Graph {
    /// The lines that join lanes before a node, and the node's own line. All children of a node must have been
    /// drawn before it.
    pub(crate) fn node(&mut self, name: &str, parent: Option<&str>) -> (Vec<String>, String) {
        let waiting: Vec<usize> = (0..self.lanes.len())
            .filter(|&lane| self.lanes[lane].as_deref() == Some(name))
            .collect();
        let (column, joining) = match waiting.split_first() {
            Some((&column, joining)) => (column, joining),
            None => (self.free_lane(), &[][..]),
        };
        let joins = joining.iter().rev().map(|&lane| self.join(column, lane)).collect();
        self.lanes[column] = parent.map(str::to_owned);
        let line = self.line(|lane| if lane == column { '*' } else { '|' }, Some(column));
        while self.lanes.last().is_some_and(Option::is_none) {
            self.lanes.pop();
        }
        (joins, line)
    }

    fn free_lane(&mut self) -> usize {
        self.lanes.iter().position(Option::is_none).unwrap_or_else(|| {
            self.lanes.push(None);
            self.lanes.len() - 1
        })
    }

    /// Ends a lane in another one to its left.
    fn join(&mut self, column: usize, lane: usize) -> String {
        self.lanes[lane] = None;
        let mut line: Vec<char> = self.line(|_| '|', None).chars().collect();
        line.resize(line.len().max(2 * lane), ' ');
        for place in &mut line[2 * column + 1..2 * lane - 1] {
            if *place == ' ' {
                *place = '_';
            }
        }
        line[2 * lane - 1] = '/';
        line.into_iter().collect()
    }

    /// A mark in each lane that is in use, and in `node`.
    fn line(&self, mark: impl Fn(usize) -> char, node: Option<usize>) -> String {
        let mut line = String::new();
        for (lane, waits) in self.lanes.iter().enumerate() {
            line.push(if waits.is_some() || node == Some(lane) { mark(lane) } else { ' ' });
            line.push(' ');
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(nodes: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut graph = Graph::default();
        let mut lines = Vec::new();
        for (name, parent) in nodes {
            let (joins, line) = graph.node(name, *parent);
            lines.extend(joins);
            lines.push(format!("{line} {name}"));
        }
        lines
    }

    #[test]
    fn branches_join_at_their_parent() {
        let nodes = [
            ("a3", Some("a2")),
            ("b2", Some("b1")),
            ("a2", Some("r")),
            ("b1", Some("r")),
            ("r", None),
        ];
        assert_eq!(drawn(&nodes), ["* a3", "| * b2", "* | a2", "| * b1", "|/", "* r"]);
    }

    #[test]
    fn several_lanes_join_one_by_one_across_others() {
        let nodes = [
            ("a", Some("r")),
            ("x", Some("y")),
            ("b", Some("r")),
            ("c", Some("r")),
            ("r", None),
            ("y", None),
        ];
        assert_eq!(
            drawn(&nodes),
            ["* a", "| * x", "| | * b", "| | | * c", "|_|_|/", "|_|/", "* | r", "  * y"]
        );
    }

    #[test]
    fn histories_without_a_common_root_stand_alone() {
        let nodes = [("b", None), ("a2", Some("a1")), ("a1", None)];
        assert_eq!(drawn(&nodes), ["* b", "* a2", "* a1"]);
    }
}
