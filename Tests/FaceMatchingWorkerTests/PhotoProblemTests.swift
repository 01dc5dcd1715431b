import Accounts
import Foundation
import TestSupport
import Testing
import WireFormat

/// Sessions with bad photos of a real person: each names exactly the bad ones, and why.
@Suite struct PhotoProblemTests {
    /// A sign-up with some photos replaced, by their places among the nine.
    struct BadSignUp {
        let name: String
        let files: [Int: [UInt8]]
        /// Nil if it succeeds.
        let reason: SessionReason?
        var problems: [PhotoProblems] = []

        init(_ name: String, _ files: [Int: [UInt8]], _ reason: SessionReason?, _ problems: [(Int, [PhotoProblem])] = []) {
            (self.name, self.files, self.reason) = (name, files, reason)
            let poses: [SessionPhoto.Pose] = [.left, .right, .front]
            self.problems = problems.map { PhotoProblems(pose: poses[$0.0 / 3], index: $0.0 % 3, problems: $0.1) }
        }

        func photos() throws -> [Uploads.Photo] {
            try Photos.signUp().enumerated().map { .init(pose: $1.pose, file: files[$0] ?? $1.file) }
        }
    }

    private static func name(_ place: Int) -> String { "person-a/\(["left", "right", "front"][place / 3])-\(place % 3 + 1)" }

    static func one() throws -> [BadSignUp] {
        let good = try Photos.signUp().map(\.file)
        return [
            BadSignUp("blurred", [7: try BadPhotos.blurred(name(7))], .lowQuality, [(7, [.blurred])]),
            BadSignUp("dark", [1: try BadPhotos.lit(name(1), 1.0 / 6)], .lowQuality, [(1, [.tooDark])]),
            BadSignUp("bright", [5: try BadPhotos.lit(name(5), 0.5, 160)], .lowQuality, [(5, [.tooBright])]),
            BadSignUp("not turned", [0: try Photos.read("person-a/challenge-front")], .poseMismatch, [(0, [.turnedTooLittle])]),
            BadSignUp("two people", [4: try Photos.read("cases/two-people")], .multipleFaces, [(4, [.severalFaces])]),
            BadSignUp("far away", [8: try BadPhotos.far(name(8))], .faceTooSmall, [(8, [.tooSmall])]),
            BadSignUp("cut off", [6: try Photos.read("cases/partial-face")], .lowQuality, [(6, [.cutOff])]),
            BadSignUp("damaged", [2: Array(good[2].prefix(good[2].count / 2))], .invalidImage, [(2, [.undecodable])]),
            BadSignUp("no face", [3: try Photos.read("cases/no-face")], .noFace, [(3, [.noFace])]),
            BadSignUp("the same file twice", [8: good[7]], .duplicateImages, [(8, [.looksLikeAnotherPhoto])]),
            BadSignUp("tilted", [6: try BadPhotos.tilted(name(6))], .lowQuality, [(6, [.tilted])]),
        ]
    }

    static func several() throws -> [BadSignUp] {
        let good = try Photos.signUp().map(\.file)
        let dark = try (0..<9).map { ($0, try BadPhotos.lit(name($0), 1.0 / 6)) }
        let blurred = try (0..<9).map { ($0, try BadPhotos.blurred(name($0), radius: 8)) }
        return [
            BadSignUp("all dark", Dictionary(uniqueKeysWithValues: dark), .lowQuality, (0..<9).map { ($0, [.tooDark]) }),
            BadSignUp(
                "one of the left and right exchanged", [0: good[3], 3: good[0]], .poseMismatch, [0, 3].map { ($0, [.turnedWrongWay]) }),
            BadSignUp("left and right exchanged", Dictionary(uniqueKeysWithValues: (0..<6).map { ($0, good[($0 + 3) % 6]) }), nil),
            BadSignUp(
                "upside down and on both sides",
                [
                    0: try BadPhotos.turned(name(0), quarters: 1), 4: try BadPhotos.turned(name(4), quarters: 3),
                    8: try BadPhotos.turned(name(8), quarters: 2),
                ], nil),
            BadSignUp(
                "three of nine, one of them twice bad",
                [1: try BadPhotos.tilted("person-a/challenge-front"), 4: [1, 2, 3], 6: try BadPhotos.blurred(name(6))], .lowQuality,
                [(1, [.tilted, .turnedTooLittle]), (4, [.undecodable]), (6, [.blurred])]),
            BadSignUp("all blurred", Dictionary(uniqueKeysWithValues: blurred), .lowQuality, (0..<9).map { ($0, [.blurred]) }),
        ]
    }

    @Test(arguments: [one, several]) func `a sign-up names exactly its bad photos, each with all its problems`(
        sets: @escaping @Sendable () throws -> [BadSignUp]
    ) async throws {
        let sets = try await BadPhotos.made(sets)
        try await HandlerFixture.with { fixture in
            for set in sets {
                let session = try await fixture.outcome(of: try await fixture.upload(.signUp, try set.photos()))
                #expect(session.reason == set.reason, "\(set.name)")
                #expect(session.photoProblems == set.problems, "\(set.name)")
            }
        }
    }

    @Test func `a person takes the bad photo again, and sends the good ones of before beside it`() async throws {
        let blurred = try await BadPhotos.made { try BadPhotos.blurred(Self.name(7)) }
        try await HandlerFixture.with { fixture in
            let (user, good) = (UUID(), try Photos.signUp())
            for proof in [Uploads.Proof.email, .none] {
                var photos = good
                photos[7] = .init(pose: .front, file: blurred)
                let refused = try await fixture.outcome(of: try await fixture.upload(.signUp, photos, user: user, proof: proof))
                #expect(refused.photoProblems == [PhotoProblems(pose: .front, index: 1, problems: [.blurred])])
            }
            #expect(try await fixture.outcome(of: try await fixture.upload(.signUp, good, user: user)).state == .succeeded)
        }
    }

    @Test func `a sign-in names its bad photos alike with and without an account, and none once it was compared`() async throws {
        let good = try Photos.signIn("person-a").map(\.file)
        let stranger = try Photos.signIn("person-b").map(\.file)
        let (dark, blurred, turned) = try await BadPhotos.made {
            (
                try BadPhotos.lit("person-b/sign-in-3", 1.0 / 24), try BadPhotos.blurred("person-a/sign-in-2", radius: 9),
                try BadPhotos.turned("person-b/sign-in-2", quarters: 1)
            )
        }
        let cases: [(files: [[UInt8]], reason: SessionReason, problems: [(Int, [PhotoProblem])])] = [
            ([good[0], blurred, dark], .lowQuality, [(1, [.blurred]), (2, [.tooDark])]),
            ([try Photos.read("cases/two-people"), good[1] + [0], dark + [0]], .multipleFaces, [(0, [.severalFaces]), (2, [.tooDark])]),
            ([stranger[0] + [1], stranger[0] + [2], dark + [1]], .duplicateImages, [(1, [.looksLikeAnotherPhoto]), (2, [.tooDark])]),
            ([stranger[1], turned, stranger[2]], .duplicateImages, [(1, [.looksLikeAnotherPhoto])]),
            ([stranger[0] + [3], stranger[1] + [3], dark + [3]], .noMatch, []),
        ]
        try await HandlerFixture.with { fixture in
            let known = UUID()
            #expect(try await fixture.outcome(of: try await fixture.upload(.signUp, user: known)).state == .succeeded)
            for (index, (files, reason, problems)) in cases.enumerated() {
                let photos = files.map { Uploads.Photo(pose: .any, file: $0) }
                let named = problems.map { PhotoProblems(pose: .any, index: $0.0, problems: $0.1) }
                for user in [known, UUID()] {
                    let id = try await fixture.uploads.store(.signIn, photos, user: user, attemptKey: UUID())
                    let session = try await fixture.outcome(of: fixture.request(id, .signIn))
                    #expect(session.reason == reason && session.photoProblems == named, "\(index)")
                }
            }
            let accepted = try await fixture.upload(.signIn, [good[0], good[1], dark].map { .init(pose: .any, file: $0) }, user: known)
            #expect(try await fixture.outcome(of: accepted).photoProblems.isEmpty)
        }
    }
}
