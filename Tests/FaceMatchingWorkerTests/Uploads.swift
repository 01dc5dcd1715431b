import BlobStore
import Foundation
import HeliographCrypto
import NIOCore
import PostgresClient
import Storage
import TestSupport
import WireFormat

/// Stores photos and sessions as identity-api does.
struct Uploads {
    /// A photo of an upload.
    struct Photo {
        let pose: SessionPhoto.Pose
        let file: [UInt8]
    }

    let postgres: PostgresClient
    let blobs: any BlobStore

    /// Stores an upload and returns the session's id; nothing is published.
    func store(
        _ event: EkycEvent, _ photos: [Photo], user: UUID, authorised: Bool = false, by signIn: UUID? = nil,
        processingTime: Duration? = nil
    ) async throws -> UUID {
        let id = UUID()
        var stored: [SessionPhoto] = []
        for (index, photo) in photos.enumerated() {
            let key = "ekyc/\(id.wireString)/\(index)"
            try await blobs.write(try BlobKey(key)) { try await $0.append(ByteBuffer(bytes: photo.file)) }
            stored.append(SessionPhoto(key: key, pose: photo.pose, sha256: Hex.encode(SHA256.hash(photo.file))))
        }
        var session = NewSession(
            id: id, userID: user, event: event, authorised: authorised, authorisedBy: signIn, tokenHash: SecureRandom.bytes(32),
            photos: stored)
        // The account gets the user id of the first session with its e-mail; identity-api derives that id from the e-mail.
        if event == .signUp, !authorised { session.email = SessionEmail(lookup: SHA256.hash("\(user)"), sealed: [1, 2, 3]) }
        if let processingTime { session.processingTime = processingTime }
        try await SessionRepository(postgres).insert(session)
        return id
    }
}

/// The photos that `make setup` downloads.
enum Photos {
    static func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try PackageRoot.file(".cache/photos/\(name).jpg"))))
    }

    static func signUp() throws -> [Uploads.Photo] {
        let poses: [SessionPhoto.Pose] = [.left, .right, .front]
        return try poses.flatMap { pose in
            try (1...3).map { .init(pose: pose, file: try read("person-a/\(pose.rawValue)-\($0)")) }
        }
    }

    static func signIn(_ person: String) throws -> [Uploads.Photo] {
        try (1...3).map { .init(pose: .any, file: try read("\(person)/sign-in-\($0)")) }
    }
}
