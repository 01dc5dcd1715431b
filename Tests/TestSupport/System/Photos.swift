import Foundation

/// The public-domain portraits that `make setup` downloads, and the views made from them.
public enum Photos {
    /// The names of three photos of person A for the field `left_faces` of a sign-up.
    public static let left = (1...3).map { "person-a/left-\($0)" }
    /// The names of three photos of person A for the field `right_faces` of a sign-up.
    public static let right = (1...3).map { "person-a/right-\($0)" }
    /// The names of three photos of person A for the field `front_faces` of a sign-up.
    public static let front = (1...3).map { "person-a/front-\($0)" }
    /// The names of three other views of person A, for a sign-in that succeeds.
    public static let sameFace = (1...3).map { "person-a/sign-in-\($0)" }
    /// The names of three views of person B, for a sign-in that fails.
    public static let otherFace = (1...3).map { "person-b/sign-in-\($0)" }

    /// Returns a photo's file by its name, such as `person-a/left-1`; throws when `make setup` has not downloaded it.
    public static func load(_ name: String) throws -> [UInt8] {
        let path = try PackageRoot.file(".cache/photos/\(name).jpg")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns a photo in other bytes, because one that was sent before is refused: with a comment, which decoders skip. Without a
    /// comment it is unchanged.
    public static func load(_ name: String, comment: String) throws -> [UInt8] {
        let photo = try load(name)
        return comment.isEmpty ? photo : jpeg(photo, comment: comment)
    }

    /// Returns a JPEG with a comment.
    public static func jpeg(_ photo: [UInt8], comment: String) -> [UInt8] {
        // The marker of a comment and the length of its segment, behind the marker that begins the file.
        Array(photo[..<2]) + [0xFF, 0xFE, 0, UInt8(2 + comment.utf8.count)] + Array(comment.utf8) + photo[2...]
    }

    /// Returns the same photos as different files, of which none was sent before.
    public static func variants(of names: [String]) throws -> [[UInt8]] { try names.map { try load($0, comment: UUID().uuidString) } }
}
