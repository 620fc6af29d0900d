//! The data of grouped columns.

/// Figures of one unit side by side: a group of columns for each category, and lines to compare them with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnChart {
    /// The names of the axes: `gpu, each with rocm + backend`.
    pub axis_name: String,
    /// The names of the groups, along the axis.
    pub groups: Vec<String>,
    /// The unit of all values; empty for none.
    pub unit: String,
    /// Which direction is better, if that is known: `higher is better`.
    pub direction: &'static str,
    /// The columns of each group, in the order of the legend.
    pub series: Vec<ColumnSeries>,
    /// The values that are compared with, a horizontal line each.
    pub references: Vec<ReferenceLine>,
    /// The meaning of the whiskers.
    pub whiskers: &'static str,
}

/// The columns of one colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnSeries {
    /// The name in the legend.
    pub name: String,
    /// A column for each group; none where the group has no such figure.
    pub columns: Vec<Option<Column>>,
}

/// A column from zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The value, in the chart's unit.
    pub value: f64,
    /// The lowest and the highest trial, if there are several.
    pub range: Option<(f64, f64)>,
    /// The published value of this column alone.
    pub published: Option<f64>,
}

/// A value that all columns are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceLine {
    /// Its name: `rtx4090`, `published`.
    pub name: String,
    /// The value, in the chart's unit.
    pub value: f64,
}

impl ColumnChart {
    /// The columns in the order in which they are drawn, each with its group and the number of its series.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, usize, Column)> {
        let groups = 0..self.groups.len();
        groups.flat_map(|group| {
            let series = self.series.iter().enumerate();
            series.filter_map(move |(number, series)| {
                Some((group, number, (*series.columns.get(group)?)?))
            })
        })
    }

    /// The name of a column: `w7900, 7.1.1 + migraphx`.
    pub(crate) fn column_name(&self, group: usize, series: usize) -> String {
        let series = &self.series[series].name;
        match series.as_str() {
            "" => self.groups[group].clone(),
            series => format!("{}, {series}", self.groups[group]),
        }
    }

    /// Every value that the axis has room for.
    pub(crate) fn axis_values(&self) -> impl Iterator<Item = f64> {
        let columns = self.columns().flat_map(|(_, _, column)| {
            let (low, high) = column.range.unwrap_or((column.value, column.value));
            [Some(column.value), Some(low), Some(high), column.published]
        });
        let references = self.references.iter().map(|line| Some(line.value));
        columns.chain(references).flatten().filter(|value| value.is_finite())
    }
}
