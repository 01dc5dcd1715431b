import ArgumentParser
import HeliographCtl
import TestSupport
import Testing

/// The commands of heliographctl that documents name, parsed by its own definition.
struct DocumentedCommandTests {
    @Test(arguments: try DocumentedCommands.arguments(of: "heliographctl"))
    func `every documented command of heliographctl is accepted`(arguments: [String]) throws {
        do {
            _ = try HeliographCtl.parseAsRoot(arguments)
        } catch {
            // A document may name a command without its arguments.
            let isName = arguments.allSatisfy { $0.contains(/^[a-z-]+$/) && !$0.hasPrefix("-") }
            let message = HeliographCtl.message(for: error)
            #expect(isName && message.hasPrefix("Missing expected argument"), "\(message)")
        }
    }

    @Test func `documented commands were found`() throws {
        #expect(try DocumentedCommands.arguments(of: "heliographctl").count > 10)
    }
}
