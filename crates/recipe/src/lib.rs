//! Parses and checks recipes. Pure: texts come from the catalog.
//!
//! ```text
//! text ──parse──▶ tree ──load──▶ merged ──variants, --set──▶ chosen ──validate, checks──▶ checked ──build──▶ model
//! ```
//!
//! The tree knows the place of every value, through merging and to the end, so that a problem in a
//! template is shown in the template. Every stage collects its problems and continues.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod checks;
mod client_figures;
pub mod expression;
mod formats;
mod image_settings;
mod inherited_figures;
mod keys;
mod language;
mod load;
mod loaded;
pub mod lock;
mod merge;
pub mod model;
mod names;
mod origin;
mod param_setting;
pub mod quote;
mod references;
mod resolve;
pub mod scaffold;
pub mod schema;
mod settings;
mod summary;
mod sweep;
mod variants;
pub mod writer;

use std::error::Error;

pub use load::find_base;
pub use loaded::{DeclaredParam, LoadedRecipe, ResolvedRecipe, resolve_recipe};
pub use origin::ValueOrigin;
pub use param_setting::{ImageSetting, InvalidParamSetting, ParamSetting};
pub use resolve::{RecipeFileKind, check_source, compute_fingerprint, read_variants};
pub use retrial_document::{
    Diagnostic, Diagnostics, MAX_DOCUMENT_BYTES, Severity, Source, Span, did_you_mean,
    find_nearest, suggest_nearest,
};
pub use summary::{ImageSummary, PublishedFigure, RecipeSummary, VariantSummary, summarize};
pub use variants::{UnsupportedVariant, VariantAxis, VariantChoice, Variants};

/// The source of templates and of files next to a recipe. The catalog has an implementation
/// that reads files.
pub trait TemplateSource {
    /// Returns the template of this name; none if there is none.
    ///
    /// # Errors
    /// Returns why an existing template cannot be read.
    fn read_template(&self, name: &str) -> Result<Option<Source>, Box<dyn Error>>;
    /// Returns a recipe that can be extended, by its name or the unique end of one, and its whole name.
    fn find_base(&self, _name: &str) -> Option<(String, Source)> {
        None
    }
    /// Returns the names of all templates, for "did you mean".
    fn template_names(&self) -> Vec<String>;
    /// Returns whether this file is next to the recipe; none if that is unknown.
    fn companion_exists(&self, relative: &str) -> Option<bool>;
    /// Returns the text of this file next to the recipe; none if it is not known.
    fn companion_text(&self, _relative: &str) -> Option<String> {
        None
    }
}

/// No templates, and no knowledge of companion files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTemplates;

impl TemplateSource for NoTemplates {
    fn read_template(&self, _name: &str) -> Result<Option<Source>, Box<dyn Error>> {
        Ok(None)
    }

    fn template_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn companion_exists(&self, _relative: &str) -> Option<bool> {
        None
    }
}
