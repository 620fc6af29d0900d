//! A batch's figure as columns: a group for each value of the first axis, a column for each combination of the others,
//! a line for each other host.

use itertools::{Itertools as _, join};

use super::{BatchFigure, CellFigure};
use crate::charts::{
    Chart, ChartKind, Column, ColumnChart, ColumnSeries, MAX_SERIES, ReferenceLine,
    truncation_note, value_range,
};
use retrial_batch::verdict::{BatchAxis, CellVerdict};
use retrial_history::AxisOrder;
use retrial_results::verdict::number;

/// More columns are too narrow: the table has them all.
const MAX_COLUMNS: usize = 36;

type MeasuredCell<'a> = (&'a CellVerdict, CellFigure);

/// The columns of all cells that have the figure; none without any.
pub(super) fn column_chart(figure: &BatchFigure<'_>) -> Option<Chart> {
    let cells = figure.batch.cells.iter();
    let cells = cells.filter_map(|cell| Some((cell, figure.figure_in_cell(cell)?)));
    let cells: Vec<MeasuredCell<'_>> = cells.collect();
    if cells.is_empty() {
        return None;
    }
    let mut chart = ColumnChart {
        unit: figure.unit.to_owned(),
        direction: figure.direction(),
        references: reference_lines(figure, &cells),
        whiskers: "lowest and highest trial",
        ..columns_by_axes(figure, &cells)
    };
    let count = chart.columns().count();
    chart.series.truncate(MAX_SERIES);
    chart.groups.truncate(MAX_COLUMNS / chart.series.len());
    let detail = truncation_note(chart.columns().count(), count, " columns");
    let format = |value: f64| number::format_figure(value, figure.unit);
    let columns = chart.columns().map(|(group, series, column)| {
        let name = chart.column_name(group, series);
        format!("{name}: {}", format(column.value))
    });
    let lines = chart.references.iter();
    let references = lines.map(|line| format!("{}: {}", line.name, format(line.value)));
    let values = columns.chain(references).collect_vec();
    Some(figure.new_chart(&detail, values, ChartKind::Columns(chart)))
}

/// The groups and series of cells, by the axes in which they differ.
fn columns_by_axes(figure: &BatchFigure<'_>, cells: &[MeasuredCell<'_>]) -> ColumnChart {
    let differs =
        |axis: &&BatchAxis| !cells.iter().map(|(cell, _)| value_on(cell, axis)).all_equal();
    let varied = figure.batch.axes.iter().filter(differs).collect_vec();
    let [group_axis, series_axes @ ..] = &varied[..] else {
        let columns = cells.iter().map(|(_, figure)| Some(to_column(figure, cells)));
        return ColumnChart {
            groups: cells.iter().map(|(cell, _)| cell.name.clone()).collect(),
            series: vec![ColumnSeries { columns: columns.collect(), ..ColumnSeries::default() }],
            ..ColumnChart::default()
        };
    };
    // Releases are in their order, whichever the batch names first.
    let rank = |cell: &CellVerdict, axis: &BatchAxis| {
        let value = value_on(cell, axis);
        let order = AxisOrder::of(axis.values.iter().map(String::as_str));
        let position = axis.values.iter().position(|other| other == value);
        (order.are_releases().then(|| order.key(value)), position)
    };
    let in_order = |axes: &[&BatchAxis]| {
        let sorted = cells
            .iter()
            .map(|(cell, _)| *cell)
            .sorted_by_key(|cell| axes.iter().map(|axis| rank(cell, axis)).collect_vec());
        let names = sorted.map(|cell| name_on(cell, axes));
        names.unique().collect_vec()
    };
    let groups = in_order(&[group_axis]);
    let series = in_order(series_axes).into_iter().map(|name| {
        let columns = groups.iter().map(|group| {
            let mut cells_of_group = cells.iter();
            let (_, figure) = cells_of_group.find(|(cell, _)| {
                name_on(cell, &[group_axis]) == *group && name_on(cell, series_axes) == name
            })?;
            Some(to_column(figure, cells))
        });
        ColumnSeries { columns: columns.collect(), name }
    });
    let series = series.collect();
    let each = join(series_axes.iter().map(|axis| &axis.name), " + ");
    ColumnChart {
        axis_name: match each.as_str() {
            "" => group_axis.name.clone(),
            each => format!("{}, each with {each}", group_axis.name),
        },
        groups,
        series,
        ..ColumnChart::default()
    }
}

/// The value of a cell on an axis; empty if its recipe does not have the axis.
fn value_on<'a>(cell: &'a CellVerdict, axis: &BatchAxis) -> &'a str {
    let is_recipe = axis.name == "recipe";
    let value = cell.axes.get(&axis.name);
    value.unwrap_or(if is_recipe { &cell.recipe } else { "" })
}

/// The values of a cell on these axes, as claims name it: `7.1.1 + migraphx`.
fn name_on(cell: &CellVerdict, axes: &[&BatchAxis]) -> String {
    let values = axes.iter().map(|axis| value_on(cell, axis));
    join(values.filter(|value| !value.is_empty()), " + ")
}

fn to_column(figure: &CellFigure, all: &[MeasuredCell<'_>]) -> Column {
    let trials = figure.trials.iter().copied();
    Column {
        value: figure.value,
        range: (figure.trials.len() > 1).then(|| value_range(trials.chain([figure.value]))),
        published: figure.published.filter(|_| common_published(all).is_none()),
    }
}

/// The published value, if it is the same for all cells.
fn common_published(cells: &[MeasuredCell<'_>]) -> Option<f64> {
    let mut published = cells.iter().map(|(_, figure)| figure.published);
    published.all_equal_value().ok().flatten()
}

/// The published value of all cells, and the figure of each other host.
fn reference_lines(figure: &BatchFigure<'_>, cells: &[MeasuredCell<'_>]) -> Vec<ReferenceLine> {
    let published =
        common_published(cells).map(|value| ReferenceLine { name: "published".to_owned(), value });
    let others = figure.batch.external_results.iter();
    let measured = others.filter_map(|other| {
        Some(ReferenceLine {
            name: other.external.clone()?,
            value: figure.figure_of_other(other)?.value,
        })
    });
    measured.chain(published).collect()
}
