internal import FoundationEssentials
internal import Storage
internal import WireFormat

/// What is to be written about one claimed delivery.
enum DeliveryVerdict: Sendable {
    /// It has ended.
    case settle(DeliverySettlement)
    /// It is sent again after a while.
    case postpone(UUID, by: Duration, code: String)
    /// Nothing: whoever comes after its lease has it.
    case leave
}
