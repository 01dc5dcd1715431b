import CHiredis

/// Decodes the bytes of a server into replies with hiredis' reader; any split of the bytes gives the same replies.
///
/// Not thread-safe: it is used on one event loop. After an error every call throws, and the connection must be closed.
final class RESPDecoder {
    // Pointers and not plain properties, because hiredis calls back into these values during a call of the decoder.
    private let builder: UnsafeMutablePointer<TapeBuilder>
    private let sink: UnsafeMutablePointer<chiredis_sink>
    private let reader: UnsafeMutablePointer<redisReader>
    private let limits: RESPLimits
    /// Bytes fed since the last complete reply.
    private var unfinishedBytes = 0
    private var starts: [Int32] = []
    private var failure: RedisError?

    init(limits: RESPLimits = .init()) {
        self.limits = limits
        builder = .allocate(capacity: 1)
        builder.initialize(to: TapeBuilder(limits: limits))
        sink = .allocate(capacity: 1)
        sink.initialize(to: chiredis_sink(context: builder, append: appendToTape))
        guard let reader = chiredis_reader_create(sink) else { fatalError("out of memory for the reply reader") }
        self.reader = reader
    }

    deinit {
        redisReaderFree(reader)
        sink.deinitialize(count: 1).deallocate()
        builder.deinitialize(count: 1).deallocate()
    }

    /// Reads the next `bytes` of the connection and appends the replies they complete.
    ///
    /// - Throws: ``RedisError/Code/protocolViolation`` or ``RedisError/Code/replyTooLarge``; the replies before the error have been
    ///   appended.
    func decode(_ bytes: UnsafeRawBufferPointer, into replies: inout [RedisReply]) throws(RedisError) {
        if let failure { throw failure }
        if let base = bytes.baseAddress, !bytes.isEmpty {
            builder.pointee.expect(bytes.count)
            let status = redisReaderFeed(reader, base.assumingMemoryBound(to: CChar.self), bytes.count)
            if status != REDIS_OK { failure = readerError() }
        }
        unfinishedBytes += bytes.count
        collect()
        if !starts.isEmpty {
            let tape = builder.pointee.seal()
            replies.reserveCapacity(replies.count + starts.count)
            for start in starts { replies.append(RedisReply(tape: tape, index: start)) }
            starts.removeAll(keepingCapacity: true)
        }
        if failure == nil, unfinishedBytes > limits.maxBytes { failure = tooLarge("\(limits.maxBytes) bytes") }
        if let failure { throw failure }
    }

    private func collect() {
        while failure == nil {
            var reply: UnsafeMutableRawPointer?
            if redisReaderGetReply(reader, &reply) != REDIS_OK {
                failure = readerError()
                return
            }
            guard reply != nil else { return }
            starts.append(builder.pointee.finishReply())
            unfinishedBytes = chiredis_reader_unread(reader)
        }
    }

    private func readerError() -> RedisError {
        switch builder.pointee.refusal {
        case .tooManyBytes: return tooLarge("\(limits.maxBytes) bytes")
        case .tooManyValues: return tooLarge("\(limits.maxValues) values")
        case nil: break
        }
        if reader.pointee.err == REDIS_ERR_OOM {
            return RedisError(.protocolViolation, "the server sent a RESP3 type, or memory is exhausted")
        }
        let reason = withUnsafeBytes(of: reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return RedisError(.protocolViolation, "the server does not speak RESP2: \(reason)")
    }

    private func tooLarge(_ limit: String) -> RedisError {
        RedisError(.replyTooLarge, "a reply is larger than the limit of \(limit)")
    }
}

private func appendToTape(
    _ context: UnsafeMutableRawPointer?, _ kind: CInt, _ bytes: UnsafePointer<CChar>?, _ length: Int, _ number: Int64
) -> CInt {
    guard let context, let kind = RedisReply.Kind(hiredis: kind) else { return 0 }
    let text = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)
    return context.assumingMemoryBound(to: TapeBuilder.self).pointee.append(kind, text: text, number: number) ? 1 : 0
}

extension RedisReply.Kind {
    fileprivate init?(hiredis kind: CInt) {
        switch kind {
        case REDIS_REPLY_STRING: self = .bulkString
        case REDIS_REPLY_ARRAY: self = .array
        case REDIS_REPLY_INTEGER: self = .integer
        case REDIS_REPLY_NIL: self = .null
        case REDIS_REPLY_STATUS: self = .status
        case REDIS_REPLY_ERROR: self = .error
        default: return nil
        }
    }
}
