internal import AsyncPrimitives

/// One wait for room in a ``SendQueue``. The first event that ends it decides: room, its timeout, a cancellation or a stop.
final class RoomWaiter: Sendable {
    /// The number of pushes that need room.
    let count: Int
    /// Whether there is room.
    let hasRoom = OneShot<Bool>()

    init(count: Int) { self.count = count }
}
