internal import ArgumentParser
internal import Foundation
internal import MobileClient

/// The photos of the phones' people, in memory: two faces, as deploy/local/fetch-photos.sh makes them.
struct PhotoBook: Sendable {
    let left: [Data]
    let right: [Data]
    let front: [Data]
    let signIn: [Data]
    /// The views of the first face in the poses of challenges, by pose.
    let poses: [EKYCClient.Pose: Data]
    /// A photo without a face.
    let noFace: Data
    /// The three photos of another person.
    let stranger: [Data]
    /// The file that people order pictures of and add to events.
    let portrait: URL

    init(_ folder: String) throws {
        func photo(_ name: String) throws -> Data {
            let path = "\(folder)/\(name).jpg"
            guard let data = FileManager.default.contents(atPath: path), data.starts(with: [0xFF, 0xD8]) else {
                throw ValidationError("No photo \(path): run 'make setup', or name another folder with --photos.")
            }
            return data
        }
        func photos(_ name: String) throws -> [Data] { try (1...3).map { try photo("\(name)-\($0)") } }
        left = try photos("person-a/left")
        right = try photos("person-a/right")
        front = try photos("person-a/front")
        signIn = try photos("person-a/sign-in")
        poses = try Dictionary(
            uniqueKeysWithValues: [EKYCClient.Pose.left, .right, .front, .nearer].map {
                ($0, try photo("person-a/challenge-\($0.rawValue)"))
            })
        noFace = try photo("cases/no-face")
        stranger = try photos("person-b/sign-in")
        portrait = URL(fileURLWithPath: "\(folder)/person-a/front-1.jpg")
    }

    /// The nine photos of a sign-up; with a mark, as files of their own.
    func signUp(_ mark: UUID? = nil) -> EKYCClient.SignUpPhotos {
        EKYCClient.SignUpPhotos(
            left: Self.copies(left, mark), right: Self.copies(right, mark), front: Self.copies(front, mark))
    }

    /// The photos of poses; nil when a pose has no photo.
    func answer(_ shown: [EKYCClient.Pose], _ mark: UUID?) -> [EKYCClient.Photo]? {
        let photos = shown.compactMap { poses[$0] }
        return photos.count == shown.count ? Self.copies(photos, mark) : nil
    }

    static func copies(_ photos: [Data], _ mark: UUID?) -> [EKYCClient.Photo] {
        photos.map { photo in .data(mark.map { varied(photo, by: $0) } ?? photo) }
    }

    /// The same picture in other bytes: with a JPEG comment after its first marker, which decoders skip.
    static func varied(_ photo: Data, by id: UUID) -> Data {
        let comment: [UInt8] = [0xFF, 0xFE, 0, 2 + 16] + withUnsafeBytes(of: id.uuid) { Array($0) }
        return photo.prefix(2) + Data(comment) + photo.dropFirst(2)
    }
}
