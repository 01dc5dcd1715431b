internal import Instrumentation
public import Logging

extension Logger.MetadataProvider {
    /// Puts into each log line what work it speaks of: `request_id`, `trace_id` and `message_id`, those that are known in the task.
    public static let work = Logger.MetadataProvider {
        guard let context = InstrumentationContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let requestID = context.requestID { metadata["request_id"] = "\(requestID)" }
        if let parent = context.traceParent { metadata["trace_id"] = "\(parent.traceID)" }
        if let messageID = context.messageID { metadata["message_id"] = "\(messageID)" }
        return metadata
    }
}
