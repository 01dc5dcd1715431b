internal import ArgumentParser
internal import Foundation
internal import WireFormat

/// A picture file.
struct LoadPicture: Sendable {
    let bytes: [UInt8]
    /// Its MIME type.
    let type: String

    /// Returns the same picture in different bytes, because the service refuses bytes that it has seen as a replay.
    ///
    /// A JPEG file gets a comment after its first marker, which decoders skip.
    func varied(by id: UUID = UUID()) -> LoadPicture {
        let length = 2 + 16
        let comment: [UInt8] = [0xFF, 0xFE, 0, UInt8(length)] + withUnsafeBytes(of: id.uuid) { Array($0) }
        return LoadPicture(bytes: bytes.prefix(2) + comment + bytes.dropFirst(2), type: type)
    }
}

/// The photos of one person.
struct LoadPerson: Sendable {
    let left: [LoadPicture]
    let right: [LoadPicture]
    let front: [LoadPicture]
    let signIn: [LoadPicture]

    /// The photos of a sign-up by field.
    var signUp: [(String, [LoadPicture])] { [("left_faces", left), ("right_faces", right), ("front_faces", front)] }
}

/// The pictures that the load sends, all in memory.
struct LoadPhotos: Sendable {
    private static let typesBySuffix = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "heic": "image/heic",
    ]

    /// The people with enough photos to sign up and to sign in.
    let people: [LoadPerson]
    /// The sources of image jobs and the photos uploaded to events.
    let pictures: [LoadPicture]

    /// Reads the folders of people, `NAME/{left,right,front,sign-in}-1.jpg` and so on, and another one of pictures.
    ///
    /// - Parameter pictures: nil takes the people's front photos.
    init(people folder: String, pictures: String?) throws {
        people = try Self.entries(of: folder).compactMap { try Self.person(in: "\(folder)/\($0)") }
        guard !people.isEmpty else {
            throw ValidationError(
                "\(folder) has no folder of a person with left-, right- and front-1.jpg to -3.jpg, and sign-in-1.jpg to -3.jpg. "
                    + "--photos names another one; in a checkout `make setup` fetches some.")
        }
        guard let pictures else {
            self.pictures = people.flatMap(\.front)
            return
        }
        self.pictures = try Self.entries(of: pictures).compactMap { try Self.read("\(pictures)/\($0)") }
        guard !self.pictures.isEmpty else { throw ValidationError("\(pictures) has no JPEG, PNG, WebP or HEIC file.") }
    }

    private static func person(in folder: String) throws -> LoadPerson? {
        let names = (try? entries(of: folder)) ?? []
        func photos(_ kind: String) throws -> [LoadPicture] {
            // `varied` works on JPEG only.
            try names.filter { $0.hasPrefix(kind + "-") }.compactMap { try read("\(folder)/\($0)") }
                .filter { $0.type == "image/jpeg" }
        }
        let person = LoadPerson(
            left: try photos("left"), right: try photos("right"), front: try photos("front"), signIn: try photos("sign-in"))
        let counts = [person.left, person.right, person.front, person.signIn].map(\.count)
        return counts.allSatisfy { $0 >= 3 } ? person : nil
    }

    private static func entries(of folder: String) throws -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw ValidationError("\(folder) is not a readable folder.")
        }
        return names.sorted()
    }

    private static func read(_ path: String) throws -> LoadPicture? {
        let suffix = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let type = typesBySuffix[suffix] else { return nil }
        guard let data = FileManager.default.contents(atPath: path), data.count <= PictureLimits.maxBytes else {
            throw ValidationError("\(path) cannot be read, or has more than \(PictureLimits.maxBytes >> 20) MB.")
        }
        return LoadPicture(bytes: [UInt8](data), type: type)
    }
}

extension [LoadPicture] {
    /// Three of the pictures in new bytes, starting at a position that depends on the number.
    func three(_ number: Int) -> [LoadPicture] { (0..<3).map { self[(number + $0) % count].varied() } }
}
