import Foundation
import Imaging
import Logging
import TestSupport

@testable import FaceEngine

/// What a stranger makes of photos of a person, as the attacks of docs/MODELCARD.md do.
enum StolenPhotos: String, CaseIterable, Sendable {
    case replayed = "replayed files"
    case mirrored = "mirrored files"
    case altered = "files that software has altered"
    case print = "prints, turned as a challenge asks"
    case screen = "screens, turned as a challenge asks"

    private static let decoder = ImageDecoder(
        sandbox: .required, logger: Logger(label: "stolen-photos") { _ in SwiftLogNoOpLogHandler() })

    /// Whether the photos answer a challenge.
    var answersChallenge: Bool { self == .print || self == .screen }

    /// Returns three files: of a sign-in, or of the poses of a challenge.
    func files(_ poses: [String]) throws -> [[UInt8]] {
        switch self {
        case .replayed: return try Photos.variants(of: Photos.sameFace)
        case .mirrored: return try Photos.sameFace.map { try Self.file(Self.image($0).mirrored) }
        case .altered: return try Photos.sameFace.map { try Self.file(AttackRenderer.altered(Self.image($0, maxSide: 640))) }
        case .print, .screen:
            let photo = try Self.image(Photos.front[0], maxSide: 400)
            return try poses.map { pose in
                let angle: Double = pose == "left" ? -40 : pose == "right" ? 40 : 0
                guard self == .screen else {
                    return try Self.file(AttackRenderer.print(photo, turnedBy: angle, share: pose == "nearer" ? 1.1 : 0.8))
                }
                return try Self.file(AttackRenderer.screen(photo, turnedBy: angle))
            }
        }
    }

    private static func image(_ name: String, maxSide: Int = 1_280) throws -> RGBImage {
        try decoder.decodeUpright(Photos.load(name), maxSide: maxSide).image
    }

    private static func file(_ image: RGBImage) throws -> [UInt8] {
        // Another file each time: what is tried is the photo, and not its hash.
        Photos.jpeg(try ImagePipeline(decoder: decoder).normalise(image, quality: 90).picture.bytes, comment: UUID().uuidString)
    }
}
