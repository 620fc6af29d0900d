use proptest::prelude::*;
use rstest::rstest;

use super::*;

const TABLE: &str = "# GEMM, 200 repetitions\ndtype,shape,\"ms, median\",TFLOP/s\n\
    fp16,8192,1.10,999.5\nbf16,8192,1.09,\"1,008.75\"\nbf16,4096,0.15,nan\n\ntotal: 3 rows\n";

fn cell(column: &str, filter: &[(&str, &str)], row: Option<u32>) -> CsvCell {
    CsvCell {
        column: column.to_owned(),
        filter: filter
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        row,
    }
}

fn request<'a>(cell: &'a CsvCell, entry_columns: &'a [String]) -> TableRequest<'a> {
    TableRequest { cell, entry_columns, unit: "" }
}

fn figure(text: &str, cell: &CsvCell, take: MatchSelection) -> Result<f64, String> {
    let mut entries = read_csv_entries(text.as_bytes(), request(cell, &[]), take, 0)
        .map_err(|error| error.to_string())?;
    let single = entries.remove("").unwrap().into_single_value();
    single.map(|printed| printed.value).map_err(|error| error.to_string())
}

#[rstest]
#[case(&[("dtype", "bf16"), ("shape", "8192.0")], None, 1008.75)]
#[case(&[("shape", "8192")], Some(1), 999.5)]
#[case(&[("shape", "8192")], Some(2), 1008.75)]
fn cells_by_column_and_row(
    #[case] filter: &[(&str, &str)],
    #[case] row: Option<u32>,
    #[case] expected: f64,
) {
    let cell = cell("TFLOP/s", filter, row);
    assert_eq!(figure(TABLE, &cell, MatchSelection::Last), Ok(expected));
    let tabs = TABLE.replace("\"1,008.75\"", "1008.75").replace(',', "\t");
    assert_eq!(figure(&format!("\u{feff}{tabs}"), &cell, MatchSelection::Last), Ok(expected));
    let colored = TABLE.replace("TFLOP/s", "\x1b[1mTFLOP/s\x1b[0m");
    assert_eq!(figure(&colored, &cell, MatchSelection::Last), Ok(expected));
    let crlf = TABLE.replace('\n', "\r\n");
    assert_eq!(figure(&crlf, &cell, MatchSelection::Last), Ok(expected));
}

#[test]
fn columns_name_the_entries_of_a_table() {
    let by = ["dtype".to_owned(), "shape".to_owned()];
    let text = TABLE.replace("nan", "930");
    let entries = read_csv_entries(
        text.as_bytes(),
        request(&cell("TFLOP/s", &[], None), &by),
        MatchSelection::Last,
        0,
    )
    .unwrap();
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    assert_eq!(names, ["bf16 4096", "bf16 8192", "fp16 8192"]);
}

#[rstest]
#[case(cell("TFLOPS", &[], None), "no line has the column `TFLOPS`; the nearest line is: dtype, shape, ms, median, TFLOP/s")]
#[case(cell("TFLOP/s", &[("dtype", "fp8")], None), "no row has dtype = fp8; dtype of the 3 there are: fp16, bf16")]
#[case(cell("TFLOP/s", &[("dtype", "bf16")], Some(3)), "no row has dtype = bf16, number 3; 2 match")]
#[case(cell("TFLOP/s", &[("shape", "4096")], None), "the column `TFLOP/s` has `nan`: it is no number")]
fn missing_cells_are_reported(#[case] cell: CsvCell, #[case] expected: &str) {
    assert_eq!(figure(TABLE, &cell, MatchSelection::Last).unwrap_err(), expected);
}

#[rstest]
#[case::cut("b,7", &[("name", "b")], MatchSelection::Last, "the row `b, 7` has 2 cells, and the header 4")]
#[case::cut_at_the_name("b", &[("name", "b")], MatchSelection::Last, "the row `b` has 1 cells, and the header 4")]
#[case::more("b,7,s,a, b", &[("name", "b")], MatchSelection::Mean, "the row `b, 7, s, a, b` has 5 cells")]
#[case::without_criteria("c,7", &[], MatchSelection::Last, "the row `c, 7` has 2 cells")]
#[case::empty("b,,s,x", &[("name", "b")], MatchSelection::Max, "has ``: it is no number")]
fn a_row_that_cannot_be_read_is_a_fault(
    #[case] row: &str,
    #[case] filter: &[(&str, &str)],
    #[case] take: MatchSelection,
    #[case] expected: &str,
) {
    let text = format!("name,rate,unit,note\na,3,s,ok\nb,5,s,ok\n{row}");
    let error = figure(&text, &cell("rate", filter, None), take).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[rstest]
#[case::other_row("a,7", &[("name", "b")])]
#[case::text("total: 2 rows, in 3 s", &[])]
#[case::word("done", &[])]
#[case::failed_before_it("", &[])]
fn text_below_a_table_and_rows_of_others_are_skipped(
    #[case] line: &str,
    #[case] filter: &[(&str, &str)],
) {
    let text = format!("name,rate,unit,note\nb,,s,failed\nb,5,s,ok\n\n{line}\n");
    let cell = cell("rate", filter, None);
    assert_eq!(figure(&text, &cell, MatchSelection::Last), Ok(5.0));
}

#[rstest]
#[case::word("users,rate,p99\n32,101.5,4\n64,OOM\n", MatchSelection::Last, None)]
#[case::comma("users,rate,p99\n32,101.5,4\n64,\n", MatchSelection::Last, None)]
#[case::one_cell("users,rate,p99\n32,101.5,4\n64\n", MatchSelection::Last, None)]
#[case::prose(
    "users,rate,p99\n32,101.5,4\n64,ERROR: no memory, see log, line 3\n",
    MatchSelection::Max,
    None
)]
#[case::name("name,rate,p99\na,101.5,4\nb,OOM\n", MatchSelection::Last, None)]
#[case::quoted("users,rate,err\n32,101.5,\"\"\n64,102,\"Trace", MatchSelection::Last, None)]
#[case::only_a_number("rate\n101\nnan\n", MatchSelection::Last, None)]
#[case::log_line("users,rate\n32,101\nINFO done, bye\n", MatchSelection::Last, Some(101.0))]
#[case::log_line_between(
    "users,rate\n32,99\nWARNING: slow, continuing\n64,101\n",
    MatchSelection::Max,
    Some(101.0)
)]
#[case::one_column("rate\n101\nbye\n", MatchSelection::Last, None)]
#[case::header_again("users,rate\n32,101\nusers,rate\n64,99\n", MatchSelection::Mean, Some(100.0))]
#[case::other_order("users,rate\n32,50\nrate,users\n100,64\n", MatchSelection::Last, Some(100.0))]
#[case::second_table("gpu,rate\n0,50\n\ngpu,temp\n0,100\n", MatchSelection::Last, Some(50.0))]
#[case::unlike_table(
    "gpu,rate\r\n0,50\r\n\r\nhost,watts\r\nh1,100\r\n",
    MatchSelection::Last,
    Some(50.0)
)]
fn rows_and_text_around_a_table_are_told_apart(
    #[case] text: &str,
    #[case] take: MatchSelection,
    #[case] expected: Option<f64>,
) {
    let actual = figure(text, &cell("rate", &[], None), take);
    assert_eq!(actual.clone().ok(), expected, "{actual:?}");
}

#[test]
fn two_columns_of_one_name_are_refused_if_they_are_read() {
    let text = "name,p99,mean,p99\nb,1,2,3\n";
    assert_eq!(figure(text, &cell("mean", &[], None), MatchSelection::Last), Ok(2.0));
    let error = figure(text, &cell("p99", &[], None), MatchSelection::Last).unwrap_err();
    assert!(error.contains("2 columns are named `p99`"), "{error}");
}

#[rstest]
#[case("name, rate\nb, \"1,234.5\"\n")]
#[case("\"name\",  \"rate\"\n\"a \"\", b\",   \"1,234.5\"\n")]
#[case("name;rate\n 5\" disk; \"1,234.5\"\n")]
fn a_space_before_a_quoted_cell_is_no_part_of_it(#[case] text: &str) {
    assert_eq!(figure(text, &cell("rate", &[], None), MatchSelection::Last), Ok(1234.5));
}

#[rstest]
#[case::below_a_row_of_two_lines("# a table\nname,rate\n\n\"a\nb\",1\nc,2\n", 6, Some((3, 3)))]
#[case::windows("name,rate\r\n\r\nb,1.5\r\n", 3, Some((3, 5)))]
#[case::behind_the_same_text("name,rate\n1,11\n", 2, Some((3, 4)))]
#[case::behind_a_separator("name,rate\n\"a, 2\",2\n", 2, Some((8, 8)))]
#[case::behind_a_mark("name,rate\n\"a \"\"b\",2\n", 2, None)]
fn the_place_of_a_cell_is_known(
    #[case] text: &str,
    #[case] line: u64,
    #[case] columns: Option<(u32, u32)>,
) {
    let cell = cell("rate", &[], None);
    let request = request(&cell, &[]);
    let entries = read_csv_entries(text.as_bytes(), request, MatchSelection::Last, 3).unwrap();
    let expected = RecordLocation { columns, ..RecordLocation::at_line(3, line) };
    assert_eq!(entries[""].deciding_place(), expected);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_csv_entries(&bytes, request(&cell("a", &[("b", "1")], None), &[]), MatchSelection::All, 0);
        let headed = [b"a,b\n".as_slice(), &bytes].concat();
        let _ = read_csv_entries(&headed, request(&cell("a", &[], None), &["b".to_owned()]), MatchSelection::Mean, 0);
    }
}
