"""Serves MiniStack with uvicorn, changed in six places."""

import json
import threading
import time

import uvicorn
from ministack.core import lambda_runtime
from ministack.services import cloudwatch, dynamodb, ec2
from ministack.services.cloudformation import provisioners

kill_now = lambda_runtime.kill_workers


def kill_when_idle(worker):
    end = time.monotonic() + worker.config["Timeout"]
    while worker.in_use and time.monotonic() < end:
        time.sleep(0.02)
    kill_now([worker])


def kill_workers(workers):
    """Lets invocations end whose function is updated, as AWS does. They have left the pool, and get no others."""
    busy = [worker for worker in workers if worker.in_use]
    kill_now([worker for worker in workers if not worker.in_use])
    for worker in busy:
        threading.Thread(target=kill_when_idle, args=(worker,), daemon=True).start()


alarm_record = provisioners._cw_metric_alarm_record


def alarm_record_of_math(name, props):
    """Takes an alarm on the math of one metric as one on the metric: it evaluates no alarm."""
    found = [each["MetricStat"] for each in props.get("Metrics") or [] if "MetricStat" in each]
    if not found or any(each["Metric"] != found[0]["Metric"] for each in found):
        return alarm_record(name, props)
    stat = found[0]
    rest = {key: value for key, value in props.items() if key != "Metrics"}
    return alarm_record(name, {**rest, **stat["Metric"], "Period": stat["Period"], "Statistic": stat["Stat"]})


def put_composite_alarm(name, props):
    """Makes a composite alarm by the API, for which the emulator has no resource type."""
    status, _, body = cloudwatch._put_composite_alarm({}, {**props, "AlarmName": name}, False, True)
    if status >= 300:
        raise ValueError(body)
    return name, {"Arn": cloudwatch._composite_alarms[name]["AlarmArn"]}


endpoint_handlers = provisioners._RESOURCE_HANDLERS["AWS::EC2::VPCEndpoint"]


def create_endpoint_with_routes(logical_id, props, stack):
    """Gives the route tables of a gateway endpoint the route of its prefix list, as AWS does."""
    endpoint_id, attributes = endpoint_handlers["create"](logical_id, props, stack)
    route = {
        "DestinationPrefixListId": ec2._aws_pl_id_from_name(props["ServiceName"]),
        "GatewayId": endpoint_id,
        "State": "active",
        "Origin": "CreateRoute",
    }
    for table_id in props.get("RouteTableIds", []):
        ec2._route_tables[table_id]["Routes"].append(route)
    return endpoint_id, attributes


table_handlers = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]


def create_table_with_policy(logical_id, props, stack):
    """Gives a table its resource policy, as CloudFormation does."""
    name, attributes = table_handlers["create"](logical_id, props, stack)
    document = props.get("ResourcePolicy", {}).get("PolicyDocument")
    if document is not None:
        dynamodb._put_resource_policy({"ResourceArn": attributes["Arn"], "Policy": json.dumps(document)})
    return name, attributes


provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"] = {**table_handlers, "create": create_table_with_policy}
provisioners._RESOURCE_HANDLERS["AWS::EC2::VPCEndpoint"] = {**endpoint_handlers, "create": create_endpoint_with_routes}
provisioners._cw_metric_alarm_record = alarm_record_of_math
provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::CompositeAlarm"] = {
    "create": lambda logical_id, props, stack: put_composite_alarm(props["AlarmName"], props),
    "update": lambda name, old, new, stack: put_composite_alarm(name, new),
    "delete": lambda name, props: cloudwatch._composite_alarms.pop(name, None),
}
# A trail that records nothing: the emulator's own knows no selectors of data events.
provisioners._RESOURCE_HANDLERS["AWS::CloudTrail::Trail"] = {
    "create": lambda logical_id, props, stack: (f"{stack}-{logical_id}", {}),
    "delete": lambda name, props: None,
}
lambda_runtime.kill_workers = kill_workers
uvicorn.main()
