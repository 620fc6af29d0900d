//! What the signs of a drawing mean, below it.

use super::frame::{Drawing, SMALL, WIDTH, text_width};

/// A sign that is explained.
pub(super) enum Sign {
    /// A filled square, by its class.
    Square(&'static str),
    /// A square with hatching, by the pattern's name.
    Hatched(&'static str),
    /// A whisker.
    Whisker,
    /// A trial's point.
    Point,
    /// A dashed line.
    Dashed,
    /// What is asked for.
    Asked,
    /// A line of a series, by its number.
    Line(usize),
}

/// Draws them in as many rows as it takes.
pub(super) fn draw(drawing: &mut Drawing, entries: &[(Sign, String)]) {
    let mut x = 4.0;
    let mut y = drawing.height + 12.0;
    for (sign, name) in entries {
        let width = 24.0 + text_width(name, SMALL) + 12.0;
        if x > 4.0 && x + width > WIDTH {
            x = 4.0;
            y += 18.0;
        }
        one(drawing, sign, x, y);
        drawing.cut("s", x + 24.0, y + 4.0, name, (WIDTH - x - 24.0) * 1.15);
        x += width;
    }
    if !entries.is_empty() {
        drawing.height = y + 10.0;
    }
}

fn one(drawing: &mut Drawing, sign: &Sign, x: f64, y: f64) {
    match sign {
        Sign::Square(class) => {
            drawing.rectangle(("class", class), (x, y - 5.0), (18.0, 10.0));
        }
        Sign::Hatched(pattern) => {
            let fill = format!("url(#{}-{pattern})", drawing.id);
            drawing.rectangle(("fill", &fill), (x, y - 5.0), (18.0, 10.0));
        }
        Sign::Whisker => drawing.whisker(y, x + 1.0, x + 17.0),
        Sign::Point => point(drawing, x + 9.0, y),
        Sign::Dashed => drawing.line("k", (x, y), (x + 18.0, y)),
        Sign::Asked => asked(drawing, x + 9.0, y),
        Sign::Line(number) => {
            let class = format!("l l{}", number % 6 + 1);
            let path = format!("M{} {y}h18", super::frame::place(x));
            let dashes = super::lines::dashes(*number);
            let mut attributes = vec![("class", class.as_str()), ("d", path.as_str())];
            if let Some(dashes) = dashes {
                attributes.push(("stroke-dasharray", dashes));
            }
            drawing.markup.empty("path", &attributes);
            super::lines::marker(drawing, *number, x + 9.0, y);
        }
    }
}

/// A trial.
pub(super) fn point(drawing: &mut Drawing, x: f64, y: f64) {
    let (x, y) = (super::frame::place(x), super::frame::place(y));
    let attributes = [
        ("class", "d"),
        ("cx", x.as_str()),
        ("cy", y.as_str()),
        ("r", "3"),
    ];
    drawing.markup.empty("circle", &attributes);
}

/// The least that is asked: a bracket.
pub(super) fn asked(drawing: &mut Drawing, x: f64, y: f64) {
    let path = format!(
        "M{} {}h-5v14h5",
        super::frame::place(x + 2.5),
        super::frame::place(y - 7.0)
    );
    drawing
        .markup
        .empty("path", &[("class", "w"), ("d", &path)]);
}
