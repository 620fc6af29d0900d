//! tmp
use crate::journal::Event;
/// tmp
pub trait Reporter: Send {
    /// tmp
    fn event(&mut self, e: &Event);
    /// tmp
    fn finish(&mut self) {}
}
struct P;
impl Reporter for P {
    fn event(&mut self, e: &Event) {
        eprintln!("{}", serde_json::to_string(e).unwrap_or_default());
    }
}
/// tmp
pub fn reporter(_j: bool, _q: bool, _v: bool, _t: bool, _n: bool) -> Box<dyn Reporter> {
    Box::new(P)
}
