public import FoundationEssentials
public import Push

extension DeliveryRepository {
    /// Claims the pages on which deliveries began, each once, as senders do for the event of a page.
    public func claim(_ ids: [UUID], lease: Duration = .seconds(60)) async throws -> [ClaimedDelivery] {
        var claimed: [ClaimedDelivery] = []
        for page in Set(ids.compactMap { DeliveryPage.place(of: $0)?.pageID }) { claimed += try await claim(page: page, lease: lease) }
        return claimed
    }
}
