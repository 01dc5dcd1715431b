import Foundation
import Storage
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct PushCommandTests {
    @Test func `erase publishes user.erased, and only with --yes`() async throws {
        try await withEmptyDatabase { database async throws in
            _ = await heliographctl("migrate", "up", "--database-url", database.url)
            let user = UUID()
            let arguments = ["push", "erase", "--user", user.wireString, "--database-url", database.url]
            let trial = await heliographctl(arguments)
            #expect(trial.exitCode == 0 && trial.results == ["would erase \(user.wireString): 0 installations"])
            #expect(try await database.psql("SELECT count(*) FROM outbox") == "0")
            let real = await heliographctl(arguments + ["--yes"])
            #expect(real.exitCode == 0 && real.results == ["asked to erase \(user.wireString): 0 installations"])
            #expect(try await database.psql("SELECT stream || ' ' || key FROM outbox") == "user.erased \(user.wireString)")
        }
    }

    @Test func `an invalid user id is refused`() async {
        #expect(await heliographctl("push", "erase", "--user", "x").exitCode == 64)
    }
}
