import BuildVersion
import TestSupport
import Testing

/// Tests that one can ask each executable which version it is.
@Suite struct VersionTests {
    @Test(arguments: [
        "identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier", "image-decoder", "heliographctl",
        "heliograph-load", "heliograph-bench", "heliograph-faults", "fault-worker", "fcm-emulator", "gemini-emulator", "mobile-sim",
    ])
    func `every executable prints the version and the build`(name: String) async throws {
        let executable = try PackageRoot.executable(name)
        let version = try await CommandLineTool.run([executable, "--version"], environment: ["HELIOGRAPH_VERSION": "v1-2-gabc"])
        #expect(version == "\(HeliographVersion.number) (v1-2-gabc)\n")
    }

    @Test func `a build without a name prints the version alone`() async throws {
        let version = try await CommandLineTool.run(
            [try PackageRoot.executable("image-decoder"), "--version"], environment: ["HELIOGRAPH_VERSION": ""])
        #expect(version == "\(HeliographVersion.number)\n")
    }
}
