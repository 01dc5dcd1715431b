import Foundation

/// The public-domain portraits that `make setup` downloads, and the views made from them.
public enum Photos {
    public static let left = (1...3).map { "person-a/left-\($0)" }
    public static let right = (1...3).map { "person-a/right-\($0)" }
    public static let front = (1...3).map { "person-a/front-\($0)" }
    public static let sameFace = (1...3).map { "person-a/sign-in-\($0)" }
    public static let otherFace = (1...3).map { "person-b/sign-in-\($0)" }

    public static func load(_ name: String) throws -> [UInt8] {
        let path = try PackageRoot.file(".cache/photos/\(name).jpg")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
