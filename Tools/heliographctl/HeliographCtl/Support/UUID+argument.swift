internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import WireFormat

extension UUID {
    /// Parses an id on the command line.
    static func argument(_ text: String) throws -> UUID {
        guard let id = UUID(wireString: text) else { throw ValidationError("\(text.printable) is not a UUID.") }
        return id
    }
}
