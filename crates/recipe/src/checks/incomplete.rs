//! What a recipe itself says is still to be completed.

use super::Checks;

impl Checks<'_> {
    /// Names each line of `incomplete`: a recipe may be looked at and judged by before it can run.
    pub(super) fn incomplete(&mut self) {
        for item in self.recipe.items_at("incomplete") {
            if let Some(text) = item.text() {
                let message = format!("to be completed: {text}");
                let help = "complete it, and remove this line; `retrial run` refuses until then";
                self.problems
                    .warning("incomplete", message, &item.span, help);
            }
        }
    }
}
