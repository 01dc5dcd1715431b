import ArgumentParser
import CommandLineSupport
import Synchronization
import TestSupport
import Testing

@testable import HeliographLoad

struct LoadCommandTests {
    /// The folder of the demo's photos.
    private let photos = PackageRoot.path + "/.cache/photos"

    /// Runs the command line in this process, and returns its exit code and its notes.
    private func load(_ arguments: [String]) async -> (exitCode: Int32, notes: [String]) {
        let notes = Mutex<[String]>([])
        let console = Console(result: { _ in }, note: { note in notes.withLock { $0.append(note.text) } })
        let exitCode = await Console.$current.withValue(console) { () -> Int32 in
            do {
                try await LoadCommand.parse(arguments).run()
                return 0
            } catch {
                return LoadCommand.exitCode(for: error).rawValue
            }
        }
        return (exitCode, notes.withLock { $0 })
    }

    @Test(arguments: [
        ("sign-in", "sign-in=1"), ("image=3,sign-in=8", "sign-in=8,image=3"), ("upload=0.5,image=0", "upload=0.5"),
    ])
    func `a mix is parsed`(text: String, meaning: String) throws {
        #expect(try #require(LoadMix(argument: text)).description == meaning)
    }

    @Test(arguments: ["", "sign-in=0", "login=1", "image=-1", "image=1,image=2", "image=", "image=x"])
    func `an invalid mix is refused`(text: String) {
        #expect(LoadMix(argument: text) == nil)
    }

    @Test func `an objective names a kind, a stage, a percentile and a time`() throws {
        let short = try #require(LoadObjective(argument: "sign-in p99<2s"))
        #expect(short.kind == .signIn && short.stage == .done && short.percentile == 99 && short.limit == .seconds(2))
        let long = try #require(LoadObjective(argument: "image push p99.9 < 1500ms"))
        #expect(long.kind == .image && long.stage == .push && long.percentile == 99.9 && long.limit == .milliseconds(1_500))
        #expect(try #require(LoadObjective(argument: "upload p50<1m")).stage == .answer)
    }

    @Test(arguments: [
        "sign-in<2s", "sign-in p99", "login p99<2s", "sign-in p101<2s", "sign-in p99<2", "upload push p99<2s", "image p99<-1s",
    ])
    func `an invalid objective is refused`(text: String) {
        #expect(LoadObjective(argument: text) == nil)
    }

    @Test(arguments: [("2", 2.0), ("2/s", 2), ("90/min", 1.5), ("1800/h", 0.5)])
    func `a rate is read in its unit`(text: String, perSecond: Double) throws {
        #expect(try #require(RateArgument(argument: text)).perSecond == perSecond)
    }

    @Test(arguments: ["", "0", "-1/s", "2/d", "2/", "nan", "1e9/s"])
    func `an invalid rate is refused`(text: String) {
        #expect(RateArgument(argument: text) == nil)
    }

    @Test(arguments: [
        ["--rate", "0"], ["--rate", "1", "--mix", "image", "--objective", "sign-in p99<2s"],
        ["--rate", "1", "--objective", "sign-in push p99<2s"], ["--rate", "1", "--url", "ftp://x"],
        ["--rate", "1", "--url", "http://127.0.0.1:1", "--photos", "/no/where"], ["--rate", "1", "--duration", "0s"],
    ])
    func `invalid options are refused before the load begins`(arguments: [String]) async {
        #expect(await load(arguments).exitCode == 64)
    }

    @Test func `every documented command is accepted`() throws {
        let commands = try DocumentedCommands.arguments(of: "heliograph-load").filter { !$0.isEmpty }
        #expect(!commands.isEmpty)
        for arguments in commands where arguments.first?.hasPrefix("-") == true { _ = try LoadCommand.parse(arguments) }
    }

    @Test func `an installation that does not answer is reported as unavailable`() async {
        let result = await load(["--url", "http://127.0.0.1:1", "--rate", "1", "--photos", photos])
        #expect(result.exitCode == 75)
        #expect(result.notes == ["http://127.0.0.1:1 does not give the picture styles: no connection"])
    }
}
