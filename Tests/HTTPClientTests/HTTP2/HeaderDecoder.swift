import CNGHTTP2

@testable import HTTPClient

/// The server's side of the compression of header fields: nghttp2's decoder.
final class HeaderDecoder {
    struct Fault: Error {}

    private var inflater: OpaquePointer?

    init() { nghttp2_hd_inflate_new(&inflater) }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Applies a SETTINGS_HEADER_TABLE_SIZE that the client has acknowledged.
    func limitTable(to byteCount: Int) { nghttp2_hd_inflate_change_table_size(inflater, byteCount) }

    /// Decodes a whole block.
    func decode(_ block: [UInt8]) throws -> [HeaderField] {
        var fields: [HeaderField] = []
        var (rest, isEnded) = (block[...], false)
        while !isEnded {
            var (field, flags) = (nghttp2_nv(), Int32(0))
            let count = rest.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
            }
            guard count >= 0 else { throw Fault() }
            rest = rest.dropFirst(count)
            if UInt32(flags) & NGHTTP2_HD_INFLATE_EMIT.rawValue != 0 {
                fields.append(HeaderField(Self.text(field.name, field.namelen), Self.text(field.value, field.valuelen)))
            }
            isEnded = UInt32(flags) & NGHTTP2_HD_INFLATE_FINAL.rawValue != 0
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
    }

    private static func text(_ start: UnsafePointer<UInt8>?, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
