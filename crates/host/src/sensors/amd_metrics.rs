//! `gpu_metrics`: the driver's binary table, of which only energy and throttling are used, since no text file
//! has them.
//!
//! Its layouts are identified by revision and size, and all differ (`kgd_pp_interface.h` of the kernel, structs
//! `gpu_metrics_v1_3`, `v1_6`, `v1_7` and `v1_8`). Others cannot be trusted: up to 1.2 and in 1.4 and 1.5 the
//! throttle bits are the chip's own, and from 1.9 on the table is a list of attributes.

use retrial_readings::number::to_f64;
use retrial_telemetry::ThrottleCause;

/// Joules of one count of the energy accumulator.
const JOULES_PER_ENERGY_COUNT: f64 = 15.259e-6;

/// The values of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct AmdMetrics {
    /// Joules since an arbitrary start.
    pub energy_j: Option<f64>,
    throttling: ThrottleState,
}

#[derive(Debug, Clone, PartialEq)]
enum ThrottleState {
    /// Bits of current throttling causes, the same for all chips (`amdgpu_smu.h`).
    CurrentCauses(u64),
    /// Accumulated time of each cause: signal of the board, package power, heat of socket, regulators, memory.
    Counters([u32; 5]),
}

/// Reads a table; none for unknown layouts.
pub fn parse_metrics(bytes: &[u8]) -> Option<AmdMetrics> {
    let size = u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?);
    let (format, content) = (*bytes.get(2)?, *bytes.get(3)?);
    if bytes.len() < usize::from(size) {
        return None;
    }
    let (energy, counters) = match (format, content, size) {
        // The unit of its energy differs from chip to chip.
        (1, 3, 120) => {
            let bits = u64::from_le_bytes(bytes.get(112..120)?.try_into().ok()?);
            return (bits != u64::MAX).then_some(AmdMetrics {
                energy_j: None,
                throttling: ThrottleState::CurrentCauses(bits),
            });
        }
        (1, 6, 1664) => (16, 36),
        (1, 7, 2208) | (1, 8, 3360) => (24, 44),
        _ => return None,
    };
    let count = u64::from_le_bytes(bytes.get(energy..energy + 8)?.try_into().ok()?);
    let mut held = [0; 5];
    for (place, counter) in held.iter_mut().enumerate() {
        let at = counters + 4 * place;
        *counter = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    }
    // Fields that a driver does not fill are all ones.
    Some(AmdMetrics {
        energy_j: (count != u64::MAX).then_some(to_f64(count) * JOULES_PER_ENERGY_COUNT),
        throttling: ThrottleState::Counters(held),
    })
}

impl AmdMetrics {
    /// The throttling causes now, or since the previous sample; none if unknown.
    pub fn throttle_causes(&self, before: Option<&Self>) -> Option<Vec<ThrottleCause>> {
        match (&self.throttling, before.map(|before| &before.throttling)) {
            (ThrottleState::CurrentCauses(bits), _) => {
                let any = |from: u32, to: u32| bits >> from & ((1 << (to - from + 1)) - 1) != 0;
                Some(ThrottleCause::from_flags(any(0, 31), any(32, 45), any(46, 57)))
            }
            (ThrottleState::Counters(now), Some(ThrottleState::Counters(then))) => {
                let grew = |at: usize| now[at] != u32::MAX && now[at] > then[at];
                let heat = grew(2) || grew(3) || grew(4);
                Some(ThrottleCause::from_flags(grew(1), heat, grew(0)))
            }
            (ThrottleState::Counters(_), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(format: u8, content: u8, size: u16, fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0_u8; usize::from(size)];
        bytes[..2].copy_from_slice(&size.to_le_bytes());
        bytes[2..4].copy_from_slice(&[format, content]);
        for (at, field) in fields {
            bytes[*at..*at + field.len()].copy_from_slice(field);
        }
        bytes
    }

    #[test]
    fn increased_counters_are_throttling_causes() {
        let at = |power: u32, memory: u32| {
            parse_metrics(&table(
                1,
                7,
                2208,
                &[
                    (24, &1_000_000_u64.to_le_bytes()),
                    (48, &power.to_le_bytes()),
                    (60, &memory.to_le_bytes()),
                ],
            ))
            .unwrap()
        };
        let (first, second, third) = (at(5, 0), at(9, 0), at(9, 3));
        assert!((first.energy_j.unwrap() - 15.259).abs() < 1e-9);
        assert_eq!(first.throttle_causes(None), None);
        assert_eq!(second.throttle_causes(Some(&first)), Some(vec![ThrottleCause::Power]));
        assert_eq!(third.throttle_causes(Some(&second)), Some(vec![ThrottleCause::Heat]));
        assert_eq!(third.throttle_causes(Some(&third)), Some(Vec::new()));
    }

    #[test]
    fn common_status_bits_name_throttling_causes() {
        let bits = |bits: u64| parse_metrics(&table(1, 3, 120, &[(112, &bits.to_le_bytes())]));
        let causes = |bits_: u64| bits(bits_).unwrap().throttle_causes(None);
        assert_eq!(causes(0), Some(Vec::new()));
        assert_eq!(causes(1 << 22), Some(vec![ThrottleCause::Power]));
        assert_eq!(
            causes(1 << 36 | 1 << 47),
            Some(vec![ThrottleCause::Heat, ThrottleCause::Board])
        );
        assert_eq!(bits(u64::MAX), None);
    }

    #[test]
    fn unknown_table_layouts_are_ignored() {
        assert_eq!(parse_metrics(&table(1, 7, 2200, &[])), None);
        assert_eq!(parse_metrics(&table(1, 4, 264, &[])), None);
        assert_eq!(parse_metrics(&table(2, 3, 152, &[])), None);
        assert_eq!(parse_metrics(&table(1, 6, 1664, &[])[..100]), None);
        assert_eq!(parse_metrics(b"N/A"), None);
        assert_eq!(parse_metrics(&[]), None);
    }
}
