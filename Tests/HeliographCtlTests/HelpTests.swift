import ArgumentParser
import Testing

@testable import HeliographCtl

struct HelpTests {
    @Test(arguments: [
        [], ["migrate"], ["migrate", "up"], ["migrate", "down"], ["migrate", "status"], ["keys", "generate"], ["keys", "status"],
        ["keys", "rotate"], ["status"], ["streams"], ["top"],
        ["dlq"], ["dlq", "list"], ["dlq", "show"], ["dlq", "redrive"], ["dlq", "drop"], ["trace"],
        ["templates"], ["templates", "list"], ["templates", "set"], ["templates", "preview"], ["templates", "delete"],
        ["notifications"], ["notifications", "scheduled"], ["notifications", "cancel"],
        ["push"], ["push", "report"], ["users"], ["users", "find"], ["users", "show"],
        ["users", "erase"], ["users", "erasures"], ["users", "receipt"],
        ["sessions"], ["sessions", "list"], ["sessions", "revoke"], ["locks"], ["locks", "show"], ["locks", "clear"], ["audit"],
        ["credentials"], ["credentials", "create"], ["credentials", "list"], ["credentials", "revoke"],
        ["reports"], ["reports", "list"], ["reports", "show"], ["reports", "close"],
        ["faces"], ["faces", "status"], ["faces", "calibrate"], ["faces", "duplicates"],
        ["faces", "duplicates", "list"], ["faces", "duplicates", "resolve"],
    ])
    func `every command has help`(_ path: [String]) async {
        #expect(await heliographctl(path + ["--help"]).exitCode == 0)
    }

    @Test func `the top-level help shows the first steps and the exit codes`() {
        let help = HeliographCtl.helpMessage(columns: 100)
        #expect(help.contains("heliographctl migrate up --wait 30"))
        #expect(help.contains("heliographctl keys generate"))
        #expect(help.contains("75 a server cannot be reached"))
    }
}
