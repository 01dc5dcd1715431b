import Schema
import TestSupport
import Testing

/// A service has its own keys, and needs each of them. The stack withholds all others: a service that read one would not have started.
@Suite struct KeyAccessTests {
    /// A service that starts without a key runs until the limit of time.
    @Test(.timeLimit(.minutes(5)), arguments: ServiceRole.allCases)
    func `a service runs with its own keys alone, and does not start without one of them`(role: ServiceRole) async throws {
        let stack = try await Stack.shared()
        var settings = stack.environment(of: role.rawValue)
        for name in TestKeys.settings(withheldFrom: role) { #expect(settings[name] == "withheld") }
        settings["ADMIN_PORT"] = "\(try FreePort.find())"
        for name in TestKeys.settings(of: role) {
            let failure = await #expect(throws: CommandLineTool.Failure.self, "\(name)") {
                try await CommandLineTool.run(
                    [PackageRoot.executable(role.rawValue)], environment: settings.merging([name: ""]) { $1 })
            }
            #expect(failure?.exitCode == 78)
            #expect(failure?.output.contains("\(name) is missing") == true, "\(failure?.output ?? "")")
        }
    }
}
