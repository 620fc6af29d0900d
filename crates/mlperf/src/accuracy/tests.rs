//! Real patterns of published files, and hostile ones.

use proptest::prelude::*;
use rstest::rstest;

use super::{Accuracy, AccuracyReader, parse_accuracy};

fn shown(accuracy: &Accuracy) -> String {
    let figures = accuracy.figures.iter();
    let words: Vec<String> =
        figures.map(|(name, figure)| format!("{name}={}{}", figure.value, figure.unit)).collect();
    words.join(" ")
}

#[rstest]
#[case("mAP=1,037.5\n", "mAP=1037.5")]
#[case(
    "{'rouge1': 43.5, 'gen_len': 4_114_148, 'gen_num': 13}\n",
    "GEN_LEN=4114148characters ROUGE1=43.5"
)]
#[case("BLEU: 27.5…\nmAP=37.3k\n", "")]
#[case("accuracy=76.034%, good=38017, total=50000\n", "acc=76.034%")]
#[case("{\"accuracy\": 76.5, \"good\": 3, \"total\": 4}\n", "acc=76.5")]
#[case("INFO:main:accuracy=75.468%, good=726, total=962\n", "acc=75.468%")]
#[case("mAP=37.325%\n", "mAP=37.325%")]
#[case(
    "{'Pedestrian': [57.70], 'Cyclist': [48.84], 'Total': 54.256218124416954}\n",
    "mAP=54.256218124416954%"
)]
#[case(
    "{\"exact_match\": 83.9356669820246, \"f1\": 90.7887526723603}\n",
    "F1=90.7887526723603% exact_match=83.9356669820246%"
)]
#[case("{\"f1\": 0.787752047599809}\n", "F1_HIERARCHICAL=0.787752047599809")]
#[case(
    "AUC=80.199%, accuracy=96.602%, good=62944252, total=65158019, queries=330067\n",
    "AUC=80.199%"
)]
#[case(
    "        \"accuracy\": 96.60492249507031,\n        \"roc_auc\": 80.23,\nAUC=80.23785974349185\n",
    "AUC=80.23785974349185%"
)]
#[case(
    "WARNING:main:metric/lifetime_ne/rating: 0.8675504587396445\nWARNING:main:metric/window_ne/rating: 0.7421\nWARNING:main:metric/lifetime_accuracy/rating: 0.696\nWARNING:main:metric/lifetime_gauc/rating: 0.786\n",
    "DLRM_ACC=0.696 DLRM_AUC=0.786 DLRM_NE=0.8675504587396445"
)]
#[case("Accuracy: mean = 0.86112, kidney = 0.9346, tumor = 0.7877\n", "DICE=0.86112")]
#[case(
    "{'rouge1': 43.0994, 'rouge2': 20.1104, 'rougeL': 29.9725, 'rougeLsum': 40.2422, 'gen_len': 4114148, 'gen_num': 13368}\n",
    "GEN_LEN=4114148characters ROUGE1=43.0994 ROUGE2=20.1104 ROUGEL=29.9725 ROUGELSUM=40.2422"
)]
#[case(
    "{'rouge1': '38.4843', 'rougeL': '24.3232', 'gen_len': np.int64(27280439)}\r\n",
    "GEN_LEN=27280439characters ROUGE1=38.4843 ROUGEL=24.3232"
)]
#[case(
    "{'rouge1': np.float64(44.5427), 'tokens_per_sample': 282.9}\n",
    "ROUGE1=44.5427 TOKENS_PER_SAMPLE=282.9"
)]
#[case(
    "{'rouge1': 45.4098, 'gsm8k': 73.66, 'mbxp': 60.0, 'tokens_per_sample': 145.3}\n",
    "ROUGE1=45.4098 TOKENS_PER_SAMPLE=145.3 gsm8k_accuracy=73.66% mbxp_accuracy=60%"
)]
#[case(
    "Accuracy Results: {'FID_SCORE': 23.46804710968439, 'CLIP_SCORE': 31.750536930561065}\n",
    "CLIP_SCORE=31.750536930561065 FID_SCORE=23.46804710968439"
)]
#[case(
    "    'accuracy_results': {\n        'CLIP_SCORE': '31.73',\n        'FID_SCORE': '23.53',\n",
    "CLIP_SCORE=31.73 FID_SCORE=23.53"
)]
#[case(
    "{'exact_match': 90.08698544010589, 'rougeL': 21.457630147114052, 'tokens_per_sample': 629.9}\n",
    "ROUGEL=21.457630147114052 TOKENS_PER_SAMPLE=629.9 exact_match=90.08698544010589%"
)]
#[case(
    "{'exact_match': 81.42661804922516, 'tokens_per_sample': 3784.834092980857, 'num-samples': 4388}\n",
    "TOKENS_PER_SAMPLE=3784.834092980857 exact_match=81.42661804922516%"
)]
#[case(
    "Word Error Rate: 2.172692406520932%, accuracy=97.82730759347906%\n",
    "ACCURACY=97.82730759347906% WER=2.172692406520932%"
)]
#[case(
    "Total samples evaluated: 4395\nOverall raw accuracy: 82.25% (3615/4395)\nFINAL SCORE: 83.00% (1064.91/1283.00)\n'exact_match': 83.001\n",
    "exact_match=83.001%"
)]
#[case(" 'vbench_score': 69.98\n", "vbench_score=69.98")]
#[case("vbench_score: 70.2730\n'vbench_score': 70.27300012\n", "vbench_score=70.27300012")]
#[case("Accuracy: 33.95\n", "E2E_ACCURACY=33.95%")]
#[case("{'mean-accuracy': '0.71'}\n", "meanAcc=0.71")]
#[case("BLEU: 28.1\n", "bleu=28.1")]
#[case("{'rouge1': 4.45e+01}\n", "ROUGE1=44.5")]
#[case("100%|##| 1/1\r{'rouge1': 44.5}\rmodel.json: 100%\n", "ROUGE1=44.5")]
fn output_of_accuracy_scripts_is_parsed(#[case] text: &str, #[case] figures: &str) {
    let accuracy = parse_accuracy(text.as_bytes());
    assert_eq!(shown(&accuracy), figures);
    assert!(accuracy.figures.values().all(|figure| figure.others.is_empty()));
}

#[rstest]
#[case("accuracy=76.034%, good=38017, total=50000\n", Some(50_000))]
#[case("AUC=80.2%, accuracy=96.6%, good=62944252, total=65158019, queries=330067\n", Some(330_067))]
#[case("{'rouge1': 44.5, 'gen_num': 24576}\n", Some(24_576))]
#[case("{'exact_match': 81.4, 'num-samples': 4388}\n", Some(4388))]
#[case("Total samples evaluated: 4395\n", Some(4395))]
#[case("W:metric/lifetime_gauc_num_samples/rating: 349823.0\n", Some(349_823))]
#[case("mAP=37.325%\n", None)]
fn the_number_of_samples_is_parsed(#[case] text: &str, #[case] samples: Option<u64>) {
    assert_eq!(parse_accuracy(text.as_bytes()).samples, samples);
}

#[test]
fn the_log_hash_is_parsed() {
    let hash = |text: &str| parse_accuracy(text.as_bytes()).hash;
    assert_eq!(hash("mAP=1%\nhash=0f12\r\n").as_deref(), Some("0f12"));
    assert_eq!(hash("\nhash=0f12").as_deref(), Some("0f12"));
    assert_eq!(hash(" hash=0f12\nhash= 0f\nhash=0f 12\n"), None);
}

#[test]
fn the_last_value_is_used_and_the_others_are_recorded() {
    let accuracy =
        parse_accuracy(b"{'rouge1': 44.5}\n{'rouge1': 43.1}\n{'rouge1': 43.9}\nhash=0f\n");
    let rouge = &accuracy.figures["ROUGE1"];
    assert!((rouge.value - 43.9).abs() < 1e-12);
    assert_eq!(rouge.others, [44.5, 43.1]);
}

#[test]
fn non_numeric_values_are_not_figures() {
    let accuracy = parse_accuracy(b"{'rouge1': nan, 'rouge2': np.float64(nan), 'rougeL': -inf}\n");
    assert!(accuracy.figures.is_empty());
    let words: Vec<_> = accuracy.not_numbers.values().map(String::as_str).collect();
    assert_eq!(words, ["nan", "nan", "-inf"]);
}

#[test]
fn a_truncated_figure_is_ignored() {
    let accuracy = parse_accuracy(b"{'rouge1': 44.5, 'rouge2': 2");
    assert_eq!((shown(&accuracy).as_str(), &accuracy.cut[..]), ("ROUGE1=44.5", &["ROUGE2"][..]));
    let mut long = vec![b' '; (1 << 20) - 14];
    long.extend_from_slice(b"{'rouge1': 44.5555}\n");
    let accuracy = parse_accuracy(&long);
    assert!(accuracy.figures.is_empty() && accuracy.cut == ["ROUGE1"], "{accuracy:?}");
}

#[test]
fn names_are_case_insensitive() {
    let accuracy = parse_accuracy(b"{'rougeLsum': 42.1}\naccuracy=76.1%\n");
    for name in ["rougeLsum", "ROUGELSUM", "acc", "ACC"] {
        assert!(accuracy.figure(name).is_some(), "{name}");
    }
    assert!(accuracy.figure("rougeL").is_none());
}

#[test]
fn requested_figures_select_the_f1_variant() {
    let read = |requested: &str, text: &str| {
        let mut reader = AccuracyReader::default().with_requested_figures([requested]);
        reader.push(text.as_bytes());
        shown(&reader.finish())
    };
    assert_eq!(read("F1", "{\"f1\": 90.5}"), "F1=90.5%");
    let both = "{\"exact_match\": 1.5, \"f1\": 0.78}";
    assert_eq!(read("F1_HIERARCHICAL", both), "F1_HIERARCHICAL=0.78 exact_match=1.5%");
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        3 => "[ -~]{0,30}".prop_map(String::into_bytes),
        2 => prop::collection::vec(any::<u8>(), 0..20),
        3 => prop::sample::select(vec!["'rouge1': ", "{\"f1\": ", "accuracy=", "mAP=", "hash=", "\r", "\n", "nan", "1e999", "44.5", "}", "{", "np.float64(", "Accuracy: ", "'Total': "])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn results_do_not_depend_on_chunking(bytes in hostile(), cuts in prop::collection::vec(0_usize..600, 0..8)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut reader = AccuracyReader::default();
        let mut begin = 0;
        for cut in cuts {
            reader.push(&bytes[begin..cut]);
            begin = cut;
        }
        let whole = parse_accuracy(&bytes);
        prop_assert_eq!(reader.finish(), whole.clone());
        prop_assert!(whole.figures.values().all(|figure| figure.value.is_finite()));
    }

    #[test]
    fn a_printed_figure_is_parsed_exactly(value in -1e6_f64..1e6) {
        let accuracy = parse_accuracy(format!("noise {{'rouge1': {value}, 'x': 1}}\n").as_bytes());
        prop_assert!((accuracy.figures["ROUGE1"].value - value).abs() < 1e-9);
    }
}
