import Accounts
import AsyncPrimitives
import FaceEngine
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import TestSupport
import Testing

@testable import FaceMatchingWorker

@Suite struct ReindexTests {
    @Test func `a memory that is wrong is that of the tables once the faces have been read anew`() async throws {
        try await HandlerFixture.with { fixture in
            let feed = fixture.feed()
            let users = [try await fixture.enrolStranger(), try await fixture.enrolStranger()]
            _ = try await feed.refresh()
            // What no look can see: a face without its number's removal, a code that is another one, a face that is not known.
            let lost = try #require(await feed.index.numbers.min())
            await feed.index.apply(added: [(number: 1_000_000, code: Self.code())], removed: [lost])
            let kept = try #require(await feed.index.numbers.filter { $0 < 1_000_000 }.first)
            await feed.index.apply(added: [(number: kept, code: Self.code())])
            try await feed.reindex(request: 1)
            #expect(await feed.index.numbers.sorted() == [lost, kept])
            for user in users {
                let face = try await fixture.face(of: user)
                #expect(await feed.index.candidates(for: FaceCode(face.template)).first == face.number)
            }
            #expect(await feed.report(of: "w") == FaceIndexReport(worker: "w", faces: 2, unusable: 0, facesRead: nil, reindexed: 1))
        }
    }

    @Test func `a request that is older than the faces in memory reads nothing`() async throws {
        try await HandlerFixture.with { fixture in
            let request = try await FaceIndexRepository(fixture.postgres).request()
            let feed = fixture.feed()
            try await feed.reindex(request: request)
            #expect(await feed.report(of: "w").reindexed == nil)
            _ = try await feed.refresh()
            #expect(await feed.report(of: "w").reindexed == request)
            await feed.index.apply(added: [(number: 1_000_000, code: Self.code())])
            try await feed.reindex(request: request)
            #expect(await feed.index.count == 1)
        }
    }

    @Test func `faces that cannot be used are counted until they are gone`() async throws {
        try await HandlerFixture.with { fixture in
            let (feed, user) = (fixture.feed(), UUID())
            try await fixture.enrol(user, sealed: Array("damaged".utf8))
            _ = try await feed.refresh()
            #expect(await feed.report(of: "w").unusable == 1)
            let damaged = try await fixture.enrolStranger()
            _ = try await feed.refresh()
            try await fixture.postgres.execute("UPDATE face_templates SET template_sealed = '\\x01' WHERE user_id = \(damaged)")
            try await feed.reindex(request: 1)
            #expect(await feed.report(of: "w") == FaceIndexReport(worker: "w", faces: 0, unusable: 2, facesRead: nil, reindexed: 1))
            try await fixture.postgres.execute("DELETE FROM users")
            _ = try await feed.refresh()
            #expect(await feed.report(of: "w").unusable == 0)
        }
    }

    @Test func `what is enrolled and erased while the faces are read anew is in the memory as in the tables`() async throws {
        try await HandlerFixture.with { fixture in
            let feed = fixture.feed()
            for _ in 0..<4 { try await fixture.enrolStranger() }
            _ = try await feed.refresh()
            try await withThrowingTaskGroup { group in
                for request in 1...8 { group.addTask { try await feed.reindex(request: Int64(request)) } }
                for _ in 0..<8 {
                    group.addTask {
                        let user = try await fixture.enrolStranger()
                        _ = try await feed.refresh()
                        try await fixture.postgres.execute("DELETE FROM users WHERE id = \(user)")
                        _ = try await feed.refresh()
                    }
                }
                try await group.waitForAll()
            }
            #expect(await feed.index.count == 4)
        }
    }

    @Test func `a worker reports its memory, does what operators ask for, and takes its report back when it ends`() async throws {
        try await HandlerFixture.with { fixture in
            try await fixture.enrolStranger()
            let clock = ManualClock()
            let service = FaceIndexService(
                feed: fixture.feed(), postgres: fixture.service, logger: Logger(label: "faces") { _ in SwiftLogNoOpLogHandler() },
                clock: clock, worker: "worker:1")
            let indexes = FaceIndexRepository(fixture.postgres)
            let running = Task { try await service.run() }
            await service.loaded.wait(upTo: .seconds(60))
            let request = try await indexes.request()
            try await eventually("the request to be done") {
                clock.advance(by: FaceIndexService.reportInterval)
                return try await indexes.state(of: FaceIndexFeed.model).workers.first?.report.reindexed == request
            }
            let state = try await indexes.state(of: FaceIndexFeed.model)
            #expect(state.workers.map(\.report.faces) == [1] && state.stored == 1)
            running.cancel()
            try await running.value
            #expect(try await indexes.state(of: FaceIndexFeed.model).workers.isEmpty)
        }
    }

    private static func code() -> FaceCode {
        let face = FaceDescriptor(normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: -1...1) })
        return FaceCode(EnrolledFace(left: [face], right: [face], front: [face], isMirrored: false))
    }
}

extension HandlerFixture {
    /// The face of an account with its number.
    func face(of user: UUID) async throws -> (number: Int64, template: EnrolledFace) {
        let faces = try await FaceChangeRepository(postgres).page(of: FaceIndexFeed.model, after: nil, limit: 100)
        let face = try #require(faces.first { $0.userID == user })
        return (face.number, try #require(FaceIndexFeed.template(of: face, sealer)))
    }
}
