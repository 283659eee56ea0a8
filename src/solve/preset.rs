//! The presets, by their names.

use crate::base::settings::named;
use crate::partition::PartitionPreset;

named! {
    /// Trade-off of time and quality.
    #[derive(Default)]
    pub enum MapPreset: "preset" {
        /// The best mapping: about thirty times the effort of `eco`.
        Strong = "strong",
        /// A good mapping.
        #[default]
        Eco = "eco",
        /// A mapping with about a third of the effort of `eco`.
        Fast = "fast",
    }
}

impl From<PartitionPreset> for MapPreset {
    /// Mappings have the same preset for both kinds of graphs.
    fn from(preset: PartitionPreset) -> Self {
        match preset {
            PartitionPreset::Strong | PartitionPreset::StrongSocial => Self::Strong,
            PartitionPreset::Eco | PartitionPreset::EcoSocial => Self::Eco,
            PartitionPreset::Fast | PartitionPreset::FastSocial => Self::Fast,
        }
    }
}

impl From<MapPreset> for PartitionPreset {
    /// The preset of the same name.
    fn from(preset: MapPreset) -> Self {
        match preset {
            MapPreset::Strong => Self::Strong,
            MapPreset::Eco => Self::Eco,
            MapPreset::Fast => Self::Fast,
        }
    }
}
