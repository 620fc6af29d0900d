use rstest::rstest;

use super::*;

/// Returns the number that a line has around the part in braces.
fn whole(line: &str, unit: &str) -> String {
    let start = line.find('{').unwrap();
    let end = line.find('}').unwrap() - 1;
    let plain = line.replace(['{', '}'], "");
    let part = start..end;
    plain[number_begin(&plain, &part)..super::number_end(&plain, &part, unit)].to_owned()
}

#[rstest]
#[case::group("rate {5},388.43 it/s", "5,388.43")]
#[case::group_before("rate 5,{388.43} it/s", "5,388.43")]
#[case::three_groups("{128},256,512", "128,256,512")]
#[case::lakhs("{12},34,567 rows", "12,34,567")]
#[case::decimal_comma("took {12},5 s", "12,5")]
#[case::points_and_comma("took {1.234},56 s", "1.234,56")]
#[case::exponent("{1.04615}e+06", "1.04615e+06")]
#[case::exponent_without_sign("{2}E6", "2E6")]
#[case::fortran("{0.25}D-03", "0.25D-03")]
#[case::exponent_before("1.5e-{06} s", "1.5e-06")]
#[case::power("{1.2}×10^6", "1.2×10^6")]
#[case::power_apart("{1.2} x 10^6 it", "1.2 x 10^6")]
#[case::superscript("{1.2}×10⁶", "1.2×10⁶")]
#[case::power_before("1.2×10^{6}", "1.2×10^6")]
#[case::apostrophe("{1}'234.5", "1'234.5")]
#[case::typographic("{1}’234.5", "1’234.5")]
#[case::underscore("{1}_000_000", "1_000_000")]
#[case::narrow_space("{1}\u{202f}234,5", "1\u{202f}234,5")]
#[case::no_break_space("1\u{a0}{234} ms", "1\u{a0}234")]
#[case::undecoded("{1}\u{fffd}234", "1\u{fffd}234")]
#[case::suffix("{12.3}k", "12.3k")]
#[case::capital("{1.2}M items", "1.2M")]
#[case::suffix_per_second("{12.3}k/s", "12.3k")]
#[case::suffix_apart("{12.3} k items", "12.3 k")]
#[case::billions("{1.2}B tokens", "1.2B")]
#[case::suffixed_unit("{12.3}ktok/s", "12.3ktok/s")]
#[case::ellipsis("│ {538}… │", "538…")]
#[case::dots("{12}... │", "12...")]
#[case::ellipsis_before("│ …{38} │", "…38")]
#[case::digit("{12}34", "1234")]
#[case::digit_before("12{34}", "1234")]
#[case::fraction("{12}.5 ms", "12.5")]
#[case::point("12.{5} ms", "12.5")]
#[case::no_zero("took .{5} s", ".5")]
#[case::vulgar_fraction("{5}½ h", "5½")]
#[case::version("{1.2}.3", "1.2.3")]
#[case::minus("change: -{5.5} %", "-5.5")]
#[case::minus_sign("change: −{5.5} %", "−5.5")]
#[case::range("{10}-20 ms", "10-20")]
#[case::range_before("10-{20} ms", "10-20")]
#[case::hyphen_or_sign("10{-20} ms", "10-20")]
#[case::clock("took {12}:30", "12:30")]
#[case::clock_before("took 12:{30}", "12:30")]
#[case::duration("took {1}m30s", "1m30s")]
#[case::duration_before("took 1m{30}s", "1m30")]
#[case::hexadecimal("mask {0}x1f", "0x1f")]
#[case::space("rate: {12} 345.6 it/s", "12 345.6")]
#[case::space_before("rate: 1 {764.61} it/s", "1 764.61")]
#[case::exponent_apart("rate: {1.2} e+06", "1.2 e+06")]
#[case::hexadecimal_before("mask 0x1{3}", "0x13")]
#[case::hexadecimal_letter("mask 0xf{3}", "f3")]
fn a_longer_number_is_found(#[case] line: &str, #[case] expected: &str) {
    assert_eq!(whole(line, "tokens/s"), expected);
}

#[rstest]
#[case::alone("{12.5}", "")]
#[case::list("[{12.5},12.7,12.6]", "s")]
#[case::second_of_a_list("[12.5,{12.7},12.6]", "s")]
#[case::two_fractions("{12.5},12.7", "s")]
#[case::list_of_integers("{128},256,512,1024", "")]
#[case::unequal_cells("run,{128},562,9.5", "")]
#[case::comma_and_space("loss: {1.25}, rate: 0.1", "")]
#[case::comma_and_name("bs={128},in=512", "")]
#[case::sentence("It took {12}. Then", "s")]
#[case::count("sent {8}/16", "")]
#[case::count_before("sent 8/{16}", "")]
#[case::milliseconds("{45.2}ms", "ms")]
#[case::rate("{34.85}it/s]", "it/s")]
#[case::rate_of_another_name("{34.85}it/s]", "samples/s")]
#[case::percent("{41.5}%,", "%")]
#[case::times("{1.8}x", "x")]
#[case::shape("{8192}x8192x8192", "")]
#[case::shape_with_a_sign("{64}×1024", "")]
#[case::gigabytes("{64}GB", "GB")]
#[case::gibibytes("{64}GiB", "GB")]
#[case::own_suffix("peak {107.9}G", "GiB")]
#[case::bytes("{64}B", "byte")]
#[case::kelvin("{300} K", "K")]
#[case::unit_apart("{2.06} ms", "ms")]
#[case::label_before("batch 8 {128.3} img/s", "img/s")]
#[case::shape_behind("batch {8} 128x128", "")]
#[case::longer_integer("run {12} 2026", "")]
#[case::other_kind_of_unit("{12} GB/s", "tokens/s")]
#[case::minutes("{12}min", "min")]
#[case::plural("{12}th", "")]
#[case::name("fp{16}", "")]
#[case::name_and_dash("llama-{70}", "")]
#[case::name_and_point("list.{5}", "")]
#[case::percentile("p99:{12.5}ms", "ms")]
#[case::loading("Loading...{12}", "")]
#[case::leader("speed.........{12.5}", "")]
#[case::quotes("'{123}'", "")]
#[case::snake_case("run_{123}_a", "")]
#[case::json("\"speed\":{12},\"x\":1", "")]
#[case::table("│{12.5}│", "")]
#[case::plus_minus("{12.5}±0.3", "")]
#[case::dashes("--{12}", "")]
fn a_whole_number_stays(#[case] line: &str, #[case] unit: &str) {
    let captured = &line[line.find('{').unwrap() + 1..line.find('}').unwrap()];
    assert_eq!(whole(line, unit), captured);
}

#[test]
fn a_unit_of_another_multiple_belongs_to_the_number() {
    for (line, unit) in [
        ("{45.2}ms", "s"),
        ("{512}MB", "GB"),
        ("{1.25}s/it", "it/s"),
        ("{1.25} s/it", "it/s"),
        ("{12}min", "s"),
        ("{2.06} ms", "s"),
        ("{1.76} s", "ms"),
        ("{941} MB/s", "GB/s"),
        ("{94.1} Mbits/sec", "Gbit/s"),
        ("{101.5}Gbps", "GB/s"),
        ("{101.5}Mb/s", "MB/s"),
        ("{101.5}/min", "tokens/s"),
        ("{12.3} (ktok/s)", "tokens/s"),
        ("{1.2} million tokens/s", "tokens/s"),
        ("{1.2} thousand", "tokens/s"),
    ] {
        assert_ne!(whole(line, unit), line[1..line.find('}').unwrap()], "{line}");
    }
}
