internal import ArgumentParser

/// The commands for faces.
struct FacesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faces",
        abstract: "Look after the faces of accounts.",
        subcommands: [FaceDuplicatesCommand.self]
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
