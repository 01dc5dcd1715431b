internal import ArgumentParser
internal import CommandLineSupport
internal import Logging
internal import ServiceDefaults

extension Settings {
    /// The settings of the environment for commands that read keys, with those opened that a key management has wrapped. Ends the
    /// command with a note when one does not open.
    static func withKeys() async throws -> Settings {
        do {
            return try await Settings().unwrappingKeys(logger: .silent)
        } catch {
            Console.current.note("\(error)")
            throw ExitCode.configuration
        }
    }
}
