//! The pictures of README: a verdict in a terminal, in a light and a dark scheme, and the chart that decides it. They
//! are made of the run that the page shows.

use std::path::Path;

use anstyle::{Color, RgbColor};
use anstyle_svg::{Term, VGA, WIN10_CONSOLE};

use crate::page::same;
use crate::{overwrites, root};

/// Where README has them.
const PICTURES: &str = "docs/pictures";

/// Makes the pictures of the run of examples/quickstart. `run` executes a command in the page's directory and returns its lines.
pub fn assert_pictures_are_reproduced(directory: &Path, run: impl Fn(&str) -> Vec<String>) {
    let command = "retrial judge quickstart";
    let printed = run(&format!("script -qefc 'stty cols 88; {command}' /dev/null"));
    assert!(printed.iter().any(|line| line.contains("\u{1b}[")), "without colour: {printed:?}");
    let session = format!("$ {command}\n{}", printed.join("\n"));
    let rgb = |red, green, blue| Color::Rgb(RgbColor(red, green, blue));
    let light = Term::new().palette(VGA).fg_color(rgb(31, 35, 40)).bg_color(rgb(246, 248, 250));
    let dark =
        Term::new().palette(WIN10_CONSOLE).fg_color(rgb(230, 237, 243)).bg_color(rgb(13, 17, 23));
    run("retrial report quickstart --to picture.html --charts pictures");
    let charts = std::fs::read_dir(directory.join("pictures")).unwrap();
    let decides = |name: &str| name.contains("relative-to-the-published");
    let mut charts = charts.map(|chart| chart.unwrap().path());
    let chart = charts.find(|chart| decides(&chart.to_string_lossy())).unwrap();
    let pictures = [
        ("verdict-light.svg", light.render_svg(&session)),
        ("verdict-dark.svg", dark.render_svg(&session)),
        ("ratios.svg", std::fs::read_to_string(chart).unwrap()),
    ];
    for (name, made) in pictures {
        let path = root().join(PICTURES).join(name);
        if overwrites() {
            std::fs::create_dir_all(root().join(PICTURES)).unwrap();
            std::fs::write(path, made).unwrap();
            continue;
        }
        let shown = std::fs::read_to_string(&path).unwrap();
        assert!(same(&words(&shown), &words(&made)), "{name}: make docs\n{shown}\n---\n{made}");
    }
}

/// The texts of a picture that have no number: the measured values determine an axis.
fn words(svg: &str) -> Vec<String> {
    let texts = svg.split('<').filter_map(|part| Some(part.split_once('>')?.1));
    let is_word =
        |text: &&str| !text.trim().is_empty() && !text.contains(|c: char| c.is_ascii_digit());
    texts.filter(is_word).map(str::to_owned).collect()
}
