//! `retrial report`: writes a report to a file or to standard output.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, ReportContent, ReportFormat, ReportRequest};
use crate::app::report::{self, PAGE_FILE, Report, website};
use crate::app::terminal;
use retrial_document::measures::format;
use retrial_report::charts::Chart;
use retrial_report::html::GENERATOR;
use retrial_report::svg;
use retrial_results::verdict::ExitCode;
use retrial_store::files::{parent_directory, write_atomically};
use retrial_store::open::read_beneath;

enum ReportDestination {
    StandardOutput,
    /// A file that the user named.
    Path(PathBuf),
    /// The default file of a page in its directory: it replaces only another report.
    DefaultPath(PathBuf),
}

/// Writes a report. The exit code is 0 whatever its verdicts.
pub fn write_report(global: &GlobalOptions, request: &ReportRequest) -> Result<ExitCode, Failure> {
    let requested = global.is_output_given.then_some(global.report_format);
    let usual = match request.content {
        ReportContent::Verdicts => ReportFormat::Html,
        ReportContent::Objections => ReportFormat::Markdown,
    };
    let output = choose_format(request.to.as_deref(), requested, usual)?;
    if let Some(directory) = website_directory(request, output) {
        website::write_website(global, request, directory)?;
        return open_if_requested(request, Some(&directory.join("index.html")));
    }
    let opened_report = report::open_report(global, request, output)?;
    let target = report_target(global, request, output, &*opened_report);
    if let Some(directory) = &request.charts {
        let count = write_charts(directory, &opened_report.charts())?;
        let count = format::format_count(count, "chart");
        terminal::print_note(&format!("{}: {count}", directory.display()));
    }
    let text = opened_report.render(output, target.page_directory().as_deref())?;
    write_to_target(&target, &text)?;
    open_if_requested(request, target.file().filter(|_| output == ReportFormat::Html))
}

/// The extensions of files, and their formats.
const FORMATS_BY_EXTENSION: [(&str, ReportFormat); 6] = [
    ("html", ReportFormat::Html),
    ("md", ReportFormat::Markdown),
    ("csv", ReportFormat::Csv),
    ("json", ReportFormat::Json),
    ("xml", ReportFormat::Junit),
    ("txt", ReportFormat::Text),
];

/// Returns the format of a report: of `--output`, else of the extension of `--to`, else the usual one.
///
/// # Errors
/// If the extension is of no format, or of another one than `--output`.
fn choose_format(
    to: Option<&Path>,
    requested: Option<ReportFormat>,
    usual: ReportFormat,
) -> Result<ReportFormat, Failure> {
    let file = to.filter(|to| !names_directory(to));
    let Some((file, extension)) = file.and_then(|file| Some((file, file.extension()?))) else {
        return Ok(requested.unwrap_or(usual));
    };
    let listed = FORMATS_BY_EXTENSION.iter().find(|(listed, _)| extension == *listed);
    let stated = listed.map(|(_, format)| *format);
    match (requested, stated) {
        (Some(requested), Some(stated)) if requested != stated => {
            Err(Failure::usage(format!("--output contradicts the extension of {}", file.display()))
                .with_help("leave out --output, or give the file the extension of its format"))
        }
        (Some(requested), _) => Ok(requested),
        (None, Some(stated)) => Ok(stated),
        (None, None) => {
            let known = FORMATS_BY_EXTENSION.map(|(extension, _)| format!(".{extension}"));
            Err(Failure::usage(format!(
                "--to {}: no format has the extension .{}",
                file.display(),
                extension.display()
            ))
            .with_help(format!(
                "the extensions are {}; or name a format: --output",
                known.join(", ")
            ))
            .with_help("write each chart as an .svg: --charts DIR"))
        }
    }
}

/// Opens a page in the browser, with `--open`.
fn open_if_requested(request: &ReportRequest, page: Option<&Path>) -> Result<ExitCode, Failure> {
    if !request.open {
        return Ok(ExitCode::Success);
    }
    let Some(page) = page else {
        return Err(Failure::usage("--open needs a page in a file")
            .with_help("leave out --output and --to, or name a page: --to FILE.html"));
    };
    open::that_detached(page).map_err(|error| {
        let page = page.display();
        Failure::host(format!("failed to open {page}: {error}"))
            .with_help("open the file on a machine with a browser")
    })?;
    Ok(ExitCode::Success)
}

/// The directory of a website of all runs: an existing one, or a name that is not a file's.
fn website_directory(request: &ReportRequest, output: ReportFormat) -> Option<&Path> {
    let to = request.to.as_deref()?;
    (request.all && output == ReportFormat::Html && names_directory(to)).then_some(to)
}

/// Returns whether a path is that of a directory: of an existing one, or of none, without an extension or with `/` at
/// its end.
fn names_directory(to: &Path) -> bool {
    match to.metadata() {
        Ok(metadata) => metadata.is_dir(),
        Err(_) if to.as_os_str() == "-" => false,
        Err(_) => to.extension().is_none() || to.as_os_str().as_encoded_bytes().ends_with(b"/"),
    }
}

impl ReportDestination {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::StandardOutput => None,
            Self::Path(file) | Self::DefaultPath(file) => Some(file),
        }
    }

    fn page_directory(&self) -> Option<PathBuf> {
        let (Self::Path(file) | Self::DefaultPath(file)) = self else {
            return None;
        };
        parent_directory(file).canonicalize().ok()
    }
}

/// Returns the destination on the command line; else the directory of the evidence for a page, and standard
/// output for other formats and for `--output html >FILE`.
fn report_target(
    global: &GlobalOptions,
    request: &ReportRequest,
    output: ReportFormat,
    report: &dyn Report,
) -> ReportDestination {
    let is_redirected = global.is_output_given && !std::io::stdout().is_terminal();
    match &request.to {
        Some(file) if file.as_os_str() == "-" => ReportDestination::StandardOutput,
        Some(directory) if output == ReportFormat::Html && directory.is_dir() => {
            ReportDestination::DefaultPath(directory.join(PAGE_FILE))
        }
        Some(file) => ReportDestination::Path(file.clone()),
        None if output == ReportFormat::Html && !is_redirected => ReportDestination::DefaultPath(
            report.directory().unwrap_or(Path::new("")).join(PAGE_FILE),
        ),
        None => ReportDestination::StandardOutput,
    }
}

fn write_to_target(target: &ReportDestination, text: &str) -> Result<(), Failure> {
    let file = match target {
        ReportDestination::StandardOutput => {
            terminal::print_text(text);
            return Ok(());
        }
        ReportDestination::DefaultPath(file) if !is_replaceable(file) => {
            return Err(Failure::usage(format!(
                "{} exists and is not a report: name another file with --to FILE",
                file.display()
            )));
        }
        ReportDestination::Path(file) | ReportDestination::DefaultPath(file) => file,
    };
    let parent = parent_directory(file);
    if !parent.is_dir() {
        let (file, parent) = (file.display(), parent.display());
        return Err(Failure::usage(format!("--to {file}: there is no directory {parent}"))
            .with_help(format!("create it: mkdir -p {parent}")));
    }
    write_atomically(file, text.as_bytes())?;
    terminal::print_text(&format!("{}\n", file.display()));
    Ok(())
}

/// Returns whether the file does not exist, or is an earlier report.
fn is_replaceable(file: &Path) -> bool {
    if std::fs::symlink_metadata(file).is_err() {
        return true;
    }
    let name = file.file_name().unwrap_or_default();
    let text = read_beneath(parent_directory(file), Path::new(name), 256 << 20);
    text.is_ok_and(|bytes| {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
        head.contains(GENERATOR)
    })
}

/// Writes each chart as a file of its own; returns their number.
fn write_charts(directory: &Path, all: &[Chart]) -> Result<usize, Failure> {
    let fault = |error: std::io::Error| Failure::host(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(fault)?;
    let mut names: BTreeSet<String> = BTreeSet::new();
    for chart in all {
        let mut name = chart.name.clone();
        let mut next = 2;
        while !names.insert(name.clone()) {
            name = format!("{}-{next}", chart.name);
            next += 1;
        }
        let file = directory.join(format!("{name}.svg"));
        write_atomically(&file, svg::render_svg(chart).as_bytes())?;
    }
    Ok(all.len())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, None, ReportFormat::Html)]
    #[case(Some("-"), None, ReportFormat::Html)]
    #[case(Some("site"), None, ReportFormat::Html)]
    #[case(Some("site.v2/"), None, ReportFormat::Html)]
    #[case(Some("x.html"), None, ReportFormat::Html)]
    #[case(Some("x.md"), None, ReportFormat::Markdown)]
    #[case(Some("run.1.csv"), None, ReportFormat::Csv)]
    #[case(Some("x.json"), None, ReportFormat::Json)]
    #[case(Some("x.xml"), None, ReportFormat::Junit)]
    #[case(Some("x.txt"), None, ReportFormat::Text)]
    #[case(Some("x.md"), Some(ReportFormat::Markdown), ReportFormat::Markdown)]
    #[case(Some("x.out"), Some(ReportFormat::Csv), ReportFormat::Csv)]
    #[case(Some("-"), Some(ReportFormat::Json), ReportFormat::Json)]
    fn the_extension_decides_without_an_option(
        #[case] to: Option<&str>,
        #[case] requested: Option<ReportFormat>,
        #[case] expected: ReportFormat,
    ) {
        assert_eq!(
            choose_format(to.map(Path::new), requested, ReportFormat::Html).unwrap(),
            expected
        );
    }

    #[rstest]
    #[case("x.svg", None)]
    #[case("x.pdf", None)]
    #[case("x.csv", Some(ReportFormat::Markdown))]
    fn a_file_of_no_format_or_of_another_is_refused(
        #[case] to: &str,
        #[case] requested: Option<ReportFormat>,
    ) {
        assert!(choose_format(Some(Path::new(to)), requested, ReportFormat::Html).is_err());
    }

    #[test]
    fn a_directory_has_no_extension() {
        let folder = tempfile::Builder::new().suffix(".v2").tempdir().unwrap();
        assert_eq!(
            choose_format(Some(folder.path()), None, ReportFormat::Html).unwrap(),
            ReportFormat::Html
        );
    }
}
