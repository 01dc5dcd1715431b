import Accounts
import BlobStore
import CommandLineSupport
import Foundation
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct SealRotationTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "k2")
    private var before: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: old)) } }
    private var both: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: "\(new),\(old)")) } }
    private var after: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: new)) } }

    /// Makes accounts with faces that the old key has sealed.
    private func enrol(_ count: Int, in postgres: PostgresClient) async throws -> [UUID] {
        var users: [UUID] = []
        for number in 1...count {
            let user = UUID()
            let email = try before.seal([1], context: SealingContext.email(accountID: user))
            _ = try await postgres.makeUser(id: user, emailLookup: SHA256.hash("\(number)"), emailSealed: email)
            let template = try before.seal([UInt8(number)], context: SealingContext.faceTemplate(userID: user))
            let face = NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: template)
            _ = try await FaceTemplateRepository(postgres).upsert(face)
            users.append(user)
        }
        return users
    }

    @Test func `faces and photos are sealed anew, and then the old key is safe to remove`() async throws {
        let folder = try TemporaryDirectory()
        try await withStorage { postgres in
            let users = try await enrol(3, in: postgres)
            let photo = try BlobFolder.sessions.key("1", of: UUID())
            let picture = try BlobFolder.imageJobs.key("input", of: UUID())
            let stored = FileSystemBlobStore(root: folder.path, sealer: try before)
            for key in [photo, picture] { try await stored.write([5], to: key) }
            let blobs = FileSystemBlobStore(root: folder.path, sealer: try both)
            func counts() async throws -> KeyCounts { try await KeyCounts(.faces, ring: both.keyIDs, postgres: postgres, blobs: blobs) }
            let first = try await counts()
            #expect(first.counts == ["k1": 4])
            #expect(first.state(of: "k1") == "in use" && first.state(of: "k2") == "in use, seals")

            let rotation = SealRotation(purpose: .faces, sealer: try both, postgres: postgres, blobs: blobs, rate: nil)
            let outcome = try await rotation.run { _ in }
            #expect(outcome.resealed == 4 && outcome.overtaken == 0 && outcome.failed == 0)
            let last = try await counts()
            #expect(last.counts == ["k2": 4] && last.state(of: "k1") == "safe to remove")

            for (number, user) in users.enumerated() {
                let face = try #require(try await FaceTemplateRepository(postgres).find(userID: user))
                let opened = try after.open(face.templateSealed, context: SealingContext.faceTemplate(userID: user))
                #expect(opened == [UInt8(number + 1)])
            }
            let rest = FileSystemBlobStore(root: folder.path, sealer: try after)
            #expect(try await rest.read(photo, limit: 10) == [5])
            #expect(try await stored.read(picture, limit: 10) == [5], "another ring's objects are left alone")
            #expect(try await rotation.run { _ in }.resealed == 0, "a second rotation finds nothing")
            let verification = SealVerification(purpose: .faces, sealer: try after, postgres: postgres, blobs: rest)
            #expect(try await verification.run() == SealVerification.Outcome(opened: 4))
        }
    }

    @Test func `a key that waits to be put in front is new, not removable`() async throws {
        try await withStorage { postgres in
            _ = try await enrol(1, in: postgres)
            let blobs = FileSystemBlobStore(root: try TemporaryDirectory().path, sealer: try before)
            let counts = try await KeyCounts(.faces, ring: ["k1", "k2", "k10"], postgres: postgres, blobs: blobs)
            #expect(["k1", "k2", "k10"].map(counts.state) == ["in use, seals", "unused, new", "unused, new"])
        }
    }

    @Test func `what does not open is counted, and the rest is sealed anew`() async throws {
        try await withStorage { postgres in
            let users = try await enrol(2, in: postgres)
            let stranger = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText(id: "k0")))
            let template = try stranger.seal([1], context: SealingContext.faceTemplate(userID: users[0]))
            let face = NewFaceTemplate(userID: users[0], modelID: "m", pipelineVersion: 1, templateSealed: template)
            _ = try await FaceTemplateRepository(postgres).upsert(face)
            let outcome = try await SealRotation(purpose: .faces, sealer: both, postgres: postgres, blobs: nil, rate: nil).run { _ in }
            #expect(outcome.resealed == 1 && outcome.failed == 1)
            let counts = try await KeyCounts(.faces, ring: both.keyIDs, postgres: postgres, blobs: nil)
            #expect(counts.counts == ["k0": 1, "k2": 1])
            #expect(counts.state(of: "k0") == "not in the ring")
            #expect(counts.state(of: "k1").hasPrefix("unknown"), "the photos were not counted")
        }
    }

    @Test func `a verification finds what does not open, by its key or by its place`() async throws {
        let folder = try TemporaryDirectory()
        try await withStorage { postgres in
            let users = try await enrol(3, in: postgres)
            let faces = FaceTemplateRepository(postgres)
            let first = try #require(try await faces.find(userID: users[0]))
            // A row with the value of another one: its key is in the ring, but it is bound to another account.
            let moved = NewFaceTemplate(userID: users[1], modelID: "m", pipelineVersion: 1, templateSealed: first.templateSealed)
            _ = try await faces.upsert(moved)
            let photo = try BlobFolder.sessions.key("1", of: UUID())
            try await FileSystemBlobStore(root: folder.path, sealer: try before).write([5], to: photo)
            func verify(_ sealer: Sealer) async throws -> SealVerification.Outcome {
                let blobs = FileSystemBlobStore(root: folder.path, sealer: sealer)
                return try await SealVerification(purpose: .faces, sealer: sealer, postgres: postgres, blobs: blobs).run()
            }
            #expect(try await verify(both) == .init(opened: 3, failed: ["face_templates.template_sealed": 1]))
            #expect(try await verify(after) == .init(opened: 0, failed: ["face_templates.template_sealed": 3, "ekyc/": 1]))
        }
    }

    @Test func `texts of notifications are verified`() async throws {
        try await withStorage { postgres in
            let id = UUID()
            let text = try SealedText(sealing: "text", .appContent, of: id, with: before)
            let push = CustomPush(app: text, topicID: nil, hasPicture: false)
            let request = try Envelope(push.request(id, to: .list(id), lane: .normal, expiresAt: Date())).encoded().body
            _ = try await postgres.execute(
                """
                INSERT INTO app_notifications
                    (id, app, credential_id, kind, fingerprint, state, request, accepted, unknown, not_before, expires_at)
                VALUES (\(id), 'shop', \(UUID()), 'custom', \([UInt8](repeating: 0, count: 32)), 'scheduled',
                        \(request), 1, 0, now(), now() + interval '1 hour')
                """)
            func verify(_ sealer: Sealer) async throws -> SealVerification.Outcome {
                try await SealVerification(purpose: .tokens, sealer: sealer, postgres: postgres, blobs: nil).run()
            }
            #expect(try await verify(both) == .init(opened: 1))
            #expect(try await verify(after) == .init(opened: 0, failed: ["app_notifications.request": 1]))
        }
    }

    @Test func `the commands read the ring of the environment and print the keys`() async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { _ = try await enrol(2, in: $0) }
            let environment = ["DATABASE_URL": database.url, "ACCOUNT_KEYS": "\(new),\(old)", "NO_COLOR": "1"]
            func run(_ arguments: String...) async throws -> String {
                try await CommandLineTool.run(
                    [PackageRoot.executable("heliographctl"), "keys"] + arguments + ["--wait", "60"], environment: environment)
            }
            #expect(try await run("rotate", "--ring", "accounts", "--rate", "1000/s").contains("sealed anew 2"))
            let status = try await run("status", "--ring", "accounts")
            #expect(status.contains("safe to remove") && status.contains("in use, seals"))
            #expect(try await run("verify", "--ring", "accounts").contains("opened 2"))
            #expect(try await run("status", "--json").contains(#""k1""#), "other rings are counted by the ids of keys")
        }
    }
}
