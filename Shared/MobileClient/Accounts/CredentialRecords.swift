internal import Foundation

/// Reads and changes the ``CredentialRecord`` of a ``CredentialStore``.
struct CredentialRecords: Sendable {
    let store: any CredentialStore

    func read() async throws(HeliographError) -> CredentialRecord {
        do { return Self.record(of: try await store.read()) } catch { throw Self.failure(error) }
    }

    /// Changes the record as one step; returns the change's result.
    ///
    /// The caller's cancellation does not stop it, because new tokens could be lost.
    func update<Answer: Sendable>(
        _ change: @escaping @Sendable (inout CredentialRecord) -> Answer
    ) async throws(HeliographError) -> Answer {
        let store = store
        let step = Task {
            try await store.update { data in
                let kept = Self.record(of: data)
                var record = kept
                let answer = change(&record)
                if record != kept { data = try JSONEncoder().encode(record) }
                return answer
            }
        }
        do { return try await step.value } catch { throw Self.failure(error) }
    }

    /// Removes the record if `condition` holds; a device without space to write another one can do that.
    func remove(if condition: @escaping @Sendable (CredentialRecord) -> Bool) async throws(HeliographError) {
        let store = store
        let step = Task {
            try await store.update { data in
                if condition(Self.record(of: data)) { data = nil }
            }
        }
        do { try await step.value } catch { throw Self.failure(error) }
    }

    /// A record that cannot be read is a sign-in that was lost.
    private static func record(of data: Data?) -> CredentialRecord {
        guard let data else { return CredentialRecord() }
        guard let record = try? JSONDecoder().decode(CredentialRecord.self, from: data), record.version == 1 else {
            return CredentialRecord(end: .lost)
        }
        return record
    }

    private static func failure(_ error: any Error) -> HeliographError {
        let error = error as NSError
        return HeliographError(
            .storage, "The credentials cannot be read or written: \(error.domain) \(error.code)", isRetryable: true)
    }
}
