//! Against MLCommons' own: its checker (mlcommons/logging at 7bbf7926) asked for each batch size,
//! and the `scaling.json` of AMD's published results (`mlcommons/training_results_v5.0` and `v5.1`).

use rstest::rstest;

use super::*;
use crate::verdict::tests::build::{context, official, own, source};
use crate::verdict::{Outcome, judge};
use retrial_recipe::model::FigureSource;

const TIME: &str = "time_to_train";

fn lora() -> ReferenceConvergence {
    let points = vec![
        (
            8,
            vec![
                3_072.0, 2_688.0, 3_456.0, 3_072.0, 3_072.0, 3_072.0, 3_456.0, 3_456.0, 3_072.0,
                2_688.0, 3_456.0, 3_072.0, 3_072.0, 3_072.0, 3_840.0, 3_456.0, 2_688.0, 3_072.0,
                3_456.0, 3_456.0,
            ],
        ),
        (
            16,
            vec![
                3_840.0, 3_840.0, 4_224.0, 3_840.0, 3_840.0, 3_840.0, 4_608.0, 3_840.0, 4_608.0,
                3_840.0, 4_992.0, 3_840.0, 3_840.0, 3_840.0, 4_992.0, 3_840.0, 3_840.0, 4_224.0,
                3_840.0, 3_456.0,
            ],
        ),
        (
            32,
            vec![
                5_760.0, 6_528.0, 6_144.0, 6_528.0, 5_376.0, 6_528.0, 5_760.0, 6_144.0, 6_144.0,
                6_528.0, 6_144.0, 6_144.0, 6_144.0, 5_760.0, 5_760.0, 5_760.0, 5_760.0, 5_760.0,
                6_144.0, 5_760.0,
            ],
        ),
        (
            128,
            vec![
                11_520.0, 13_056.0, 10_752.0, 12_672.0, 12_288.0, 11_136.0, 10_752.0, 13_056.0,
                10_752.0, 9_984.0, 11_136.0, 11_136.0, 11_136.0, 10_752.0, 11_520.0, 11_136.0,
                11_136.0, 10_752.0, 11_136.0, 9_984.0,
            ],
        ),
    ];
    ReferenceConvergence { runs: 10, points }
}

fn pretraining() -> ReferenceConvergence {
    let points = vec![
        (
            16,
            vec![
                159_744.0, 159_744.0, 159_744.0, 159_744.0, 159_744.0, 159_744.0, 172_032.0,
                159_744.0, 172_032.0, 159_744.0, 172_032.0, 159_744.0, 159_744.0, 159_744.0,
                159_744.0, 159_744.0, 159_744.0, 159_744.0, 159_744.0, 159_744.0,
            ],
        ),
        (
            32,
            vec![
                196_608.0, 172_032.0, 184_320.0, 184_320.0, 172_032.0, 172_032.0, 184_320.0,
                184_320.0, 184_320.0, 172_032.0, 172_032.0, 172_032.0, 184_320.0, 184_320.0,
                184_320.0, 172_032.0, 172_032.0, 172_032.0, 184_320.0, 184_320.0,
            ],
        ),
        (
            64,
            vec![
                233_472.0, 208_896.0, 208_896.0, 233_472.0, 233_472.0, 233_472.0, 233_472.0,
                233_472.0, 208_896.0, 233_472.0, 233_472.0, 233_472.0, 245_760.0, 221_184.0,
                208_896.0, 233_472.0, 233_472.0, 221_184.0, 221_184.0, 221_184.0,
            ],
        ),
        (
            96,
            vec![
                297_216.0, 284_832.0, 272_448.0, 272_448.0, 272_448.0, 272_448.0, 297_216.0,
                272_448.0, 297_216.0, 272_448.0, 297_216.0, 260_064.0, 272_448.0, 272_448.0,
                272_448.0, 284_832.0, 260_064.0, 284_832.0, 284_832.0, 272_448.0,
            ],
        ),
        (
            128,
            vec![
                368_640.0, 344_064.0, 356_352.0, 344_064.0, 368_640.0, 368_640.0, 405_504.0,
                344_064.0, 331_776.0, 307_200.0, 331_776.0, 380_928.0, 307_200.0, 344_064.0,
                319_488.0, 356_352.0, 331_776.0, 319_488.0, 356_352.0, 331_776.0,
            ],
        ),
    ];
    ReferenceConvergence { runs: 10, points }
}

/// AMD's published runs: milliseconds and samples, MLCommons' factor, the score.
#[rstest]
#[case::v5_0_mi325x(lora(), 8,
    [1_279_131, 1_279_232, 1_278_546, 1_278_892, 1_279_057, 1_278_174, 1_279_493, 1_110_609, 1_109_750, 1_279_241],
    [3072, 3072, 3072, 3072, 3072, 3072, 3072, 2688, 2688, 3072], 1.051_146_384_479_717_8, 22.037)]
#[case::v5_0_mi300x(lora(), 8,
    [1_695_611, 1_696_886, 1_695_326, 1_695_886, 1_918_891, 1_696_827, 1_696_753, 1_694_588, 1_696_320, 1_695_346],
    [3072, 3072, 3072, 3072, 3456, 3072, 3072, 3072, 3072, 3072], 1.034_722_222_222_222, 29.250)]
#[case::v5_1_mi300x(lora(), 8,
    [2_035_848, 1_610_196, 1_609_758, 1_822_229, 1_610_427, 1_821_309, 1_609_143, 1_634_270, 1_635_838, 1_635_987],
    [3840, 3072, 3072, 3456, 3072, 3456, 3072, 3072, 3072, 3072], 1.003_367_003_367_003_2, 27.969)]
#[case::v5_1_mi325x(lora(), 8,
    [1_219_823, 1_380_687, 1_219_567, 1_219_772, 1_219_696, 1_220_208, 1_218_996, 1_379_638, 1_218_985, 1_219_482],
    [3072, 3456, 3072, 3072, 3072, 3072, 3072, 3456, 3072, 3072], 1.018_803_418_803_418_7, 21.049)]
#[case::v5_1_mi350x(lora(), 8,
    [716_250, 717_815, 705_029, 705_515, 797_708, 799_208, 705_647, 704_489, 798_237, 705_159],
    [3072, 3072, 3072, 3072, 3456, 3456, 3072, 3072, 3456, 3072], 1.003_367_003_367_003_2, 12.231)]
#[case::v5_1_mi355x(lora(), 8,
    [666_790, 667_358, 589_823, 589_316, 589_663, 667_120, 590_038, 587_095, 589_814, 589_709],
    [3456, 3456, 3072, 3072, 3072, 3456, 3072, 3072, 3072, 3072], 1.003_367_003_367_003_2, 10.185)]
#[case::v5_1_8b_mi350x(pretraining(), 32,
    [7_064_991, 7_068_280, 8_087_535, 7_582_554, 7_600_894, 7_600_950, 7_615_087, 7_115_739, 7_119_892, 7_066_992],
    [172_000, 172_000, 196_576, 184_288, 184_288, 184_288, 184_288, 172_000, 172_000, 172_000], 1.004_011_735_824_202, 122.929)]
#[case::v5_1_8b_mi355x(pretraining(), 32,
    [5_758_137, 6_160_934, 5_744_655, 6_566_427, 6_159_595, 6_158_758, 6_164_359, 5_753_403, 5_754_041, 5_759_639],
    [172_000, 184_288, 172_000, 196_576, 184_288, 184_288, 184_288, 172_000, 172_000, 172_000], 1.004_011_735_824_202, 99.709)]
fn published_scores(
    #[case] rcp: ReferenceConvergence,
    #[case] batch_size: u32,
    #[case] milliseconds: [u32; 10],
    #[case] samples: [u32; 10],
    #[case] factor: f64,
    #[case] score: f64,
) {
    let minutes = milliseconds.map(|milliseconds| f64::from(milliseconds) / 60_000.0);
    let evidence = trained(&minutes, &samples.map(f64::from), batch_size, rcp)
        .expecting(TIME, official(score));
    let convergence = compute_convergence(&evidence, TIME).unwrap().unwrap();
    assert!((convergence.factor - factor).abs() < 1e-12, "{convergence:?}");
    let verdict = judge(&context(), &[evidence]);
    let judged = &verdict.results[0].judgements[0];
    let measured = judged.measured.as_ref().unwrap().value;
    assert!((measured - score).abs() < 6e-4, "{measured}");
    assert!((verdict.results[0].figures[TIME].value - measured).abs() < 1e-9);
    assert_eq!(judged.normalised_by, Some(convergence.factor));
    assert_eq!(verdict.outcome, Outcome::Reproduced, "{}", verdict.sentence());
    assert!(judged.sentence.contains("multiplied by 1.0"), "{}", judged.sentence);
}

fn trained(
    minutes: &[f64],
    samples: &[f64],
    batch_size: u32,
    rcp: ReferenceConvergence,
) -> Evidence {
    let mut evidence = own("training", TIME, "min", minutes).with_source(
        TIME,
        FigureSource {
            better: Better::Lower,
            aggregate: Aggregate::Olympic,
            find: FigureLocator::Mllog(MllogFigure {
                key: "time_to_train".to_owned(),
                target: None,
                rcp: Some(rcp),
            }),
            ..source()
        },
    );
    for (trial, samples) in evidence.trials.iter_mut().zip(samples) {
        trial.parameters.insert(SAMPLES_PARAMETER.to_owned(), *samples);
        trial.parameters.insert(BATCH_SIZE_PARAMETER.to_owned(), f64::from(batch_size));
    }
    evidence
}

#[test]
fn convergence_faster_than_chance_is_invalid() {
    let evidence = trained(&[20.0; 10], &[2_688.0; 10], 8, lora()).expecting(TIME, official(20.0));
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(
        verdict
            .sentence()
            .contains("converged in 2,688 samples on average, fewer than the minimum of 2,960.63"),
        "{}",
        verdict.sentence()
    );
}

#[test]
fn one_run_of_ten_may_fail_to_converge() {
    let mut minutes = [20.0, 20.1, 19.9, 20.2, 20.0, 20.1, 19.8, 20.0, 20.1, f64::INFINITY];
    let mut samples = [3_072.0; 10];
    samples[9] = f64::INFINITY;
    let evidence = trained(&minutes, &samples, 8, lora()).expecting(TIME, official(20.8));
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Reproduced, "{}", verdict.sentence());
    let measured = verdict.results[0].judgements[0].measured.as_ref().unwrap().value;
    let expected = (20.0 * 3.0 + 20.1 * 3.0 + 19.9 + 20.2) / 8.0 * 3_178.666_666_667 / 3_072.0;
    assert!((measured - expected).abs() < 1e-6, "{measured} {expected}");
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(serde_json::from_str::<crate::verdict::Verdict>(&json).unwrap(), verdict);

    minutes[3] = f64::INFINITY;
    samples[3] = f64::INFINITY;
    let two = trained(&minutes, &samples, 8, lora()).expecting(TIME, official(20.8));
    let verdict = judge(&context(), &[two]);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(verdict.sentence().contains("did not converge"), "{}", verdict.sentence());
}

#[test]
fn a_log_without_samples_count_is_invalid() {
    let mut evidence =
        trained(&[20.0; 10], &[3_072.0; 10], 8, lora()).expecting(TIME, official(20.8));
    evidence.trials[4].parameters.remove(SAMPLES_PARAMETER);
    let verdict = judge(&context(), &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(
        verdict.sentence().contains("trial 5: its log has no samples_count"),
        "{}",
        verdict.sentence()
    );
}

#[test]
fn too_few_runs_have_no_factor() {
    let evidence = trained(&[20.0; 2], &[3_072.0; 2], 8, lora());
    assert!(compute_convergence(&evidence, TIME).is_none());
}
