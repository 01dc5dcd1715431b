import FaceEngine
import HeliographCrypto
import Imaging
import Testing

/// Tests of whole sign-ups and sign-ins with real photos.
@Suite struct PersonTests {
    private static func photos(_ files: [(pose: FacePose, file: [UInt8])]) async throws -> [SignUpDecision.Photo] {
        let analyses = try await Engines.analyse(files.map(\.file), for: .signUp)
        return zip(files, analyses).map {
            SignUpDecision.Photo(pose: $0.pose, digest: SHA256.hash($0.file), analysis: $1)
        }
    }

    /// Created once, because it needs nine photos.
    private static let template = Task {
        guard case .accepted(let template) = SignUpDecision()(try await photos(try Photos.signUp())) else {
            throw FixtureRefused()
        }
        return template
    }

    private func template() async throws -> EnrolledFace { try await Self.template.value }

    private func signIn(_ files: [[UInt8]], isReplay: Bool = false) async throws -> SignInDecision.Outcome {
        let analyses = try await Engines.analyse(files, for: .signIn)
        let photos = zip(files, analyses).map { SignInDecision.Photo(digest: SHA256.hash($0), analysis: $1) }
        return SignInDecision()(photos, template: try await template(), isReplay: isReplay)
    }

    @Test func `nine photos of one person make a template`() async throws {
        let template = try await template()
        #expect(!template.isMirrored)
        #expect(template.isComparable)
    }

    @Test func `the sides may be named the other way round, as a mirroring camera does`() async throws {
        let swapped = try Photos.signUp().map { photo in
            (pose: photo.pose == .left ? FacePose.right : photo.pose == .right ? .left : .front, file: photo.file)
        }
        guard case .accepted(let template) = SignUpDecision()(try await Self.photos(swapped)) else {
            throw FixtureRefused()
        }
        #expect(template.isMirrored)
    }

    @Test func `a left-facing photo sent as right-facing is a wrong pose`() async throws {
        var files = try Photos.signUp()
        (files[0].file, files[3].file) = (files[3].file, files[0].file)
        #expect(SignUpDecision()(try await Self.photos(files)) == .refused(.poseMismatch))
    }

    @Test func `nine photos of two people are inconsistent`() async throws {
        var files = try Photos.signUp()
        for index in 0..<3 { files[6 + index].file = try Photos.signIn("person-b")[index] }
        #expect(SignUpDecision()(try await Self.photos(files)) == .refused(.inconsistentFaces))
        files = try Photos.signUp()
        files[8].file = try Photos.signIn("person-b")[0]
        #expect(SignUpDecision()(try await Self.photos(files)) == .refused(.inconsistentFaces))
    }

    @Test func `nine copies of one photo are duplicates`() async throws {
        let file = try Photos.read("person-a/front-1")
        let files = try Photos.signUp().map { (pose: $0.pose, file: file) }
        #expect(SignUpDecision()(try await Self.photos(files)) == .refused(.duplicateImages))
    }

    @Test func `a copy with other bytes is still a duplicate`() async throws {
        var files = try Photos.signUp()
        files[7].file = files[6].file + [0]
        #expect(SignUpDecision()(try await Self.photos(files)) == .refused(.duplicateImages))
    }

    @Test func `the same person signs in with three other photos`() async throws {
        #expect(try await signIn(try Photos.signIn("person-a")) == .accepted)
    }

    @Test func `another person is refused`() async throws {
        #expect(try await signIn(try Photos.signIn("person-b")) == .refused(.noMatch))
    }

    @Test func `another person in one of three photos is refused`() async throws {
        var files = try Photos.signIn("person-a")
        files[2] = try Photos.signIn("person-b")[2]
        #expect(try await signIn(files) == .refused(.inconsistentFaces))
    }

    @Test func `a photo sent before is refused`() async throws {
        #expect(try await signIn(try Photos.signIn("person-a"), isReplay: true) == .refused(.replayedImage))
    }

    @Test func `three copies of one photo are refused`() async throws {
        let file = try Photos.signIn("person-a")[0]
        #expect(try await signIn([file, file, file]) == .refused(.duplicateImages))
    }

    @Test func `a photo without a face, or with a second person, is refused whatever the others are`() async throws {
        var files = try Photos.signIn("person-a")
        files[1] = try Photos.read("cases/no-face")
        #expect(try await signIn(files) == .refused(.noFace))
        files[1] = try Photos.read("cases/two-people")
        #expect(try await signIn(files) == .refused(.multipleFaces))
    }
}

struct FixtureRefused: Error {}
