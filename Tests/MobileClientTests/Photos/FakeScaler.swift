import Foundation

@testable import MobileClient

/// Stands in for Apple's Image I/O, which Linux has not.
final class FakeScaler: PhotoScaling {
    static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data("scaled".utf8)

    /// The sides that were asked for.
    let sides = Locked<[Int]>([])
    private let result: @Sendable (Int) -> Data?

    init(_ result: @escaping @Sendable (_ maxSide: Int) -> Data? = { _ in jpeg }) { self.result = result }

    func jpeg(of photo: PhotoSource, maxSide: Int) -> Data? {
        sides.withLock { $0.append(maxSide) }
        return result(maxSide)
    }

    var count: Int { sides.withLock(\.count) }
}
