import ArgumentParser
import Foundation
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
        #expect(try DocumentedCommands.pages(of: "heliographctl", in: "docs/operations").count > 5)
    }

    /// Commands that wait for a key or an answer, change the roles of the whole server, or need what `make up` starts.
    private static let unattended = ["top", "migrate", "dlq redrive", "dlq drop", "faces reindex", "templates preview"]

    /// With the settings of `make up`: a command may find nothing and say so, but not that it was called in the wrong way.
    @Test(arguments: try DocumentedCommands.pages(of: "heliographctl", in: "docs/operations"))
    func `the commands of the blocks of a page work as they are printed`(document: String) async throws {
        try await TestBus.with { bus in
            let environment = bus.environment.merging(TestKeys.settings()) { $1 }
            let commands = try DocumentedCommands.arguments(of: "heliographctl", linesOf: document)
            #expect(!commands.isEmpty)
            for arguments in commands where !Self.unattended.contains(where: arguments.joined(separator: " ").hasPrefix) {
                do {
                    try await CommandLineTool.run([PackageRoot.executable("heliographctl")] + arguments, environment: environment)
                } catch let failure as CommandLineTool.Failure {
                    #expect(failure.exitCode == 1, "\(arguments.joined(separator: " ")): \(failure.output)")
                }
            }
        }
    }
}
