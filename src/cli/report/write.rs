//! Where a report goes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::app::failure::Failure;
use crate::app::options::Output;
use crate::app::options::ReportRequest;
use crate::app::terminal;
use crate::report::charts::Chart;
use crate::report::html::GENERATOR;
use crate::report::svg;
use crate::store::open::read_beneath;
use crate::store::run_directory::write_atomically;

/// The page's name where none is given.
const PAGE: &str = "report.html";

/// Where to.
pub enum Target {
    /// Standard output.
    Standard,
    /// A file that was named.
    Named(PathBuf),
    /// The file that a page has where none was named: nobody else's is replaced.
    Usual(PathBuf),
}

impl Target {
    /// The directory in which a page will lie.
    pub fn directory(&self) -> Option<PathBuf> {
        let (Self::Named(file) | Self::Usual(file)) = self else {
            return None;
        };
        let parent = file
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    }
}

/// As the command line says; else a page goes beside its evidence, everything else to the terminal.
pub fn target(arguments: &ReportRequest, output: Output, home: Option<&Path>) -> Target {
    match &arguments.to {
        Some(file) if file.as_os_str() == "-" => Target::Standard,
        Some(file) => Target::Named(file.clone()),
        None if output == Output::Html => {
            Target::Usual(home.map_or_else(|| PathBuf::from(PAGE), |home| home.join(PAGE)))
        }
        None => Target::Standard,
    }
}

/// Writes it, and says where it lies.
pub fn out(target: &Target, text: &str) -> Result<(), Failure> {
    let file = match target {
        Target::Standard => {
            terminal::print(text);
            return Ok(());
        }
        Target::Named(file) => file,
        Target::Usual(file) => {
            if !may_replace(file) {
                return Err(Failure::usage(format!(
                    "{} is there already, and no report of ours: name another file with --to FILE",
                    file.display()
                )));
            }
            file
        }
    };
    write_atomically(file, text.as_bytes())?;
    terminal::print(&format!("{}\n", file.display()));
    Ok(())
}

/// A report is made again and again; a file of somebody else's is not ours to replace.
fn may_replace(file: &Path) -> bool {
    if std::fs::symlink_metadata(file).is_err() {
        return true;
    }
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let name = file.file_name().unwrap_or_default();
    let text = read_beneath(parent.unwrap_or(Path::new(".")), Path::new(name), 256 << 20);
    text.is_ok_and(|bytes| {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
        head.contains(GENERATOR)
    })
}

/// Each chart as a file of its own; gives how many.
pub fn charts(directory: &Path, all: &[Chart]) -> Result<usize, Failure> {
    let fault = |error: std::io::Error| Failure::host(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(fault)?;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for chart in all {
        let mut name = chart.name.clone();
        let mut next = 2;
        while !taken.insert(name.clone()) {
            name = format!("{}-{next}", chart.name);
            next += 1;
        }
        let file = directory.join(format!("{name}.svg"));
        write_atomically(&file, svg::render(chart).as_bytes())?;
    }
    Ok(all.len())
}
