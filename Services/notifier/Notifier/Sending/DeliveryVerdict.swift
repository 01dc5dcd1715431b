internal import Storage

/// What is to be written about one claimed delivery.
enum DeliveryVerdict: Sendable {
    /// It has ended.
    case settle(DeliverySettlement)
    /// It is sent later.
    case postpone(DeliveryPostponement)
    /// Nothing: whoever comes after its lease has it.
    case leave
}
