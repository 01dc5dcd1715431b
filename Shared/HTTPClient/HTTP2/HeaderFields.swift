internal import CNGHTTP2

/// Header fields in one piece of memory, as nghttp2 takes them.
struct HeaderFields: Sendable, Equatable {
    private struct Size: Sendable, Equatable {
        let name: Int
        let value: Int
    }

    private var text: [UInt8] = []
    private var sizes: [Size] = []

    /// Makes a list of fields.
    init(_ fields: [(String, String)] = []) {
        for (name, value) in fields { append(name, value) }
    }

    /// The size of the list by which servers limit it: 32 bytes more than each name and value (RFC 9113 §6.5.2).
    var listByteCount: Int { text.count + 32 * sizes.count }

    /// Appends a field; the name is in small letters.
    mutating func append(_ name: String, _ value: String) {
        text += name.utf8
        text += value.utf8
        sizes.append(Size(name: name.utf8.count, value: value.utf8.count))
    }

    /// Appends the fields of another list.
    mutating func append(_ fields: HeaderFields) {
        text += fields.text
        sizes += fields.sizes
    }

    /// Calls `body` with the fields. nghttp2 copies them when it takes a request.
    func withNativeFields<Result>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result) -> Result {
        text.withUnsafeBufferPointer { text in
            // nghttp2 does not write to them.
            var next = UnsafeMutablePointer(mutating: text.baseAddress)
            let fields = sizes.map { size in
                defer { next = next.map { $0 + size.name + size.value } }
                return nghttp2_nv(
                    name: next, value: next.map { $0 + size.name }, namelen: size.name, valuelen: size.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return fields.withUnsafeBufferPointer(body)
        }
    }
}
