internal import Hummingbird
internal import WireFormat

extension APIArgument<TopicName> {
    /// The topic in the path.
    static let topic = APIArgument(.topic) { _, context throws(APIError) in try context.topicName() }
}
