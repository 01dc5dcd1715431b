internal import Accounts
internal import FoundationEssentials

extension AccountKeys {
    /// Describes what a request did, with its id and the keyed hash of its client's address.
    func auditEntry(
        _ action: AuditAction, _ result: AuditResult = .succeeded, by actor: AuditActor, on subjectID: UUID?, object objectID: UUID? = nil,
        detail: String? = nil, _ context: APIRequestContext
    ) -> AuditEntry {
        AuditEntry(
            action, result, by: actor, on: subjectID, object: objectID, requestID: context.requestID, detail: detail,
            addressKey: addressKey(context.client))
    }
}
