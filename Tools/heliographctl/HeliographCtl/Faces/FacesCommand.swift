internal import ArgumentParser
internal import FaceEngine
internal import ServiceDefaults

/// The commands for faces.
struct FacesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faces",
        abstract: "See how faces are judged, measure it with photos of your own, and find accounts with the same face.",
        subcommands: [FacesStatusCommand.self, FacesCalibrateCommand.self, FacesReindexCommand.self, FaceDuplicatesCommand.self]
    )
}

/// The commands for accounts with the same face, the rows of `face_duplicates`.
struct FaceDuplicatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "List accounts that have the same face as it seems, and resolve them.",
        subcommands: [FaceDuplicatesListCommand.self, FaceDuplicatesResolveCommand.self]
    )
}

extension Settings {
    /// The threshold in force, as face-matching-worker reads it.
    func faceThreshold() throws(ConfigurationError) -> Float {
        try faceThreshold(default: FaceThresholds.standard, in: FaceThresholds.configurable)
    }
}
