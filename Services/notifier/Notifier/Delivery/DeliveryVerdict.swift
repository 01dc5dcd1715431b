internal import Push

/// The change to be written for one claimed delivery.
enum DeliveryVerdict: Sendable {
    /// It is settled.
    case settle(DeliverySettlement)
    /// It is deferred and sent later.
    case deferDelivery(DeliveryDeferral)
    /// Nothing is written: another sender claims the delivery when its lease has ended.
    case abandon
}
