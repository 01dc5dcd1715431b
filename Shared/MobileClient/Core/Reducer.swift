/// A pure state machine: an event changes the state and returns effects.
///
/// A reducer makes every decision of a part of this module. It reads no clock, no file and no network, so that a test can try all orders
/// of events, with an end of the process between any two effects. A ``ReducerRunner`` performs the effects.
protocol Reducer {
    associatedtype State: Hashable, Sendable
    associatedtype Event: Hashable, Sendable
    associatedtype Effect: Hashable, Sendable

    /// Changes the state by an event; returns the effects in the order in which they are to be performed.
    static func reduce(_ state: inout State, _ event: Event) -> [Effect]
}
