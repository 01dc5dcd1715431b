import BlobStore
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import FaceMatchingWorker
@testable import IdentityAPI
@testable import ImageWorker
@testable import Notifier
@testable import TokenRegistry

/// Tests that an erasure leaves nothing of a person in any table or folder, and everything of another person.
///
/// The services' erasers run in this process, each with the role of its service. `ErasureJourneyTests` has the services themselves.
@Suite struct AccountErasureTests {
    /// Tables that still name the person when all services have reported: identity-api empties them when it completes the erasure.
    private static let lastTables: Set = ["audit_log", "dead_letters", "erasures", "outbox", "users"]
    /// So that a token of a sign-in before the erasure makes no new account.
    private static let keptTables: Set = ["erased_identities"]

    @Test func `each table, and each column that may name a person, is filled or known to name none`() async throws {
        try await withErasure { erasure in
            var ada = Person(seed: 1)
            try await erasure.fill(&ada, beside: try await erasure.makeUser())
            let search = try await PersonSearch(erasure.owner)
            let (tables, columns) = (Set(try await search.rows(of: ada).keys), try await search.silentColumns(of: ada))
            _ = try await erasure.begin(of: ada)
            // Two tables are filled by the erasure itself.
            let found = tables.union(try await search.rows(of: ada).keys)
            let silent = columns.intersection(try await search.silentColumns(of: ada))
            let unknown = search.tables.subtracting(found).symmetricDifference(PersonSearch.impersonalTables)
            #expect(unknown.isEmpty, "fill them in Person+Rows.swift, or say in PersonSearch.swift that they name no person: \(unknown)")
            let unclear = silent.filter { !PersonSearch.isOfThing($0) }.symmetricDifference(PersonSearch.impersonalColumns)
            #expect(
                unclear.isEmpty,
                "fill them in Person+Rows.swift, or say in PersonSearch.swift that they name no person: \(unclear.sorted())")
        }
    }

    @Test func `nothing of a person is left after an erasure, and another person loses nothing`() async throws {
        try await withErasure { erasure in
            var (ada, ben) = (Person(seed: 1), Person(seed: 2))
            let bensObjects = try await erasure.fill(&ben, beside: try await erasure.makeUser())
            let other = try await erasure.makeUser()
            try await erasure.fill(&ada, beside: other)
            let search = try await PersonSearch(erasure.owner)
            let bens = try await search.rows(of: ben)

            let id = try await erasure.begin(of: ada)
            let begun = Set(try await search.rows(of: ada).keys)
            #expect(begun.isDisjoint(with: ["email_lookups", "identities", "pending_enrolments", "push_installs", "push_presence"]))
            // Requests that were authenticated before add rows until they are answered.
            try await erasure.fillLate(&ada, beside: other)
            // A fan-out names the person, and a worker may be about to write a thumbnail: both end by themselves.
            #expect(try await erasure.runErasers(id) == [ImageWorker.name, TokenRegistry.name])
            try await erasure.owner.execute("DELETE FROM topic_fan_outs WHERE sender_id = \(ada.id)")
            try await erasure.owner.execute(
                "UPDATE topic_photos SET settled_at = settled_at - interval '61 seconds' WHERE uploader_id = \(ada.id)")
            #expect(try await erasure.runErasers(id) == [])
            let left = try await search.rows(of: ada).filter { !Self.lastTables.union(Self.keptTables).contains($0.key) }
            #expect(left.isEmpty, "the services have left: \(left)")
            #expect(try erasure.objects() == bensObjects)

            try await erasure.complete()
            #expect(try await erasure.countedTables(id).isDisjoint(with: ["audit_log", "delivery_pages"]), "their rows stay")
            let kept = try await search.rows(of: ada).filter { !Self.keptTables.contains($0.key) }
            #expect(kept.isEmpty, "the erasure has left: \(kept)")
            #expect(try await search.rows(of: ben) == bens)
        }
    }
}
