internal import Foundation

/// The receipts that the API does not have yet, one file each, so that app and extension add to them without a lock.
///
/// A file's name is the key under which the API counts a receipt once (``PushReceipt/key``), so a receipt that app and extension both make
/// is one file.
struct ReceiptFiles: Sendable {
    /// The time after which a receipt is of no more use, in seconds: seven days.
    static let maxAge = 7 * 86_400.0
    /// The most receipts that are kept; the oldest go first.
    static let maxCount = 500
    /// The maximum number of waiting files; further receipts are not added until they are read.
    static let maxStored = 1_000
    /// The longest file that can be a receipt, in bytes.
    private static let maxFileBytes = 1_024
    private static let ending = ".json"
    /// The folder's name in the client's folder, which app and extension share.
    static let folderName = "receipts"

    let folder: URL

    /// Writes a receipt, unless it is there or there are too many; throws the file system's error.
    func add(_ receipt: PushReceipt) throws {
        let file = file(receipt.key)
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        // The extension adds to them while the app, which removes, may not be opened for months.
        guard names().count < Self.maxStored else { return }
        try SystemFiles().createFolder(folder)
        // Atomic: a process that ends meanwhile leaves no half file under this name.
        try JSONEncoder().encode(receipt).write(to: file, options: .atomic)
    }

    /// Removes receipts; missing ones are ignored.
    func remove(_ keys: [String]) {
        for key in keys { try? FileManager.default.removeItem(at: file(key)) }
    }

    /// Removes all receipts, as at a sign-out.
    func removeAll() {
        for name in names() where name.hasSuffix(Self.ending) {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Reads the receipts, the oldest first, and removes other files: broken ones, those that are too old, and the oldest of too many.
    func load(now: Date) -> [PushReceipt] {
        var receipts: [PushReceipt] = []
        for name in names() {
            let file = folder.appendingPathComponent(name)
            guard name.hasSuffix(Self.ending) else {
                removeIfOld(file, now: now)
                continue
            }
            let size = (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
            // A file that cannot be read now, as before the first unlock after a restart, stays for later.
            guard let data = size <= Self.maxFileBytes ? try? Data(contentsOf: file) : Data() else { continue }
            if let receipt = receipt(data, name: name), now.timeIntervalSince1970 - receipt.at < Self.maxAge {
                receipts.append(receipt)
            } else {
                try? FileManager.default.removeItem(at: file)
            }
        }
        receipts.sort { ($0.at, $0.key) < ($1.at, $1.key) }
        remove(receipts.dropLast(Self.maxCount).map(\.key))
        return receipts.suffix(Self.maxCount)
    }

    /// Nil when the file was not written by ``add(_:)``.
    private func receipt(_ data: Data, name: String) -> PushReceipt? {
        guard let read = try? JSONDecoder().decode(PushReceipt.self, from: data),
            let receipt = PushReceipt(read.subject, read.id, read.event, at: read.at), receipt.key + Self.ending == name
        else { return nil }
        return receipt
    }

    /// Removes the temporary file of an interrupted atomic write.
    private func removeIfOld(_ file: URL, now: Date) {
        let date = try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        if let date, now.timeIntervalSince(date) > 3_600 { try? FileManager.default.removeItem(at: file) }
    }

    private func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    private func file(_ key: String) -> URL { folder.appendingPathComponent(key + Self.ending) }
}
